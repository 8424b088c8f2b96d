//! What counts as the same key, the same scope, the same store.

macro_rules! keys {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        KeysIgnoreCase: 47, Isolated,
            "Keys are compared without letter case.",
            "keys::letter_case_tells_keys_apart",
            "key \"Key\" meets";
        KeysCut: 49, Isolated,
            "Keys are cut at 64 bytes.",
            "keys::keys_that_begin_alike_are_apart",
            "meets one of those";
        ScopeJoinedByColon: 50, Isolated,
            "Scope and key are joined by a colon.",
            "scope::scope_and_key_are_not_interchangeable",
            "pair 5 of scope and key meets";
        LongRowsRefused: 88, Isolated,
            "Scope and key together do not fit the index.",
            "keys::the_longest_scope_and_key_together_are_stored",
            "the key is too long for the index";
        KeysWithoutIgnorables: 89, Isolated,
            "Keys are compared by a collation that ignores what is not shown.",
            "keys::forms_of_unicode_tell_keys_apart",
            "key \"ab\" meets";
        KeysTrimmed: 226, Isolated,
            "Keys are trimmed.",
            "keys::blanks_tell_keys_apart",
            "key \" a\" meets";
        KeysNormalised: 227, Isolated,
            "Keys are put into a normal form of Unicode.",
            "keys::forms_of_unicode_tell_keys_apart",
            "meets one of those";
        KeysUnescaped: 228, Isolated,
            "Backslashes in keys are taken for escapes.",
            "keys::patterns_and_quotes_are_plain_text",
            "meets one of those";
        KeysAsNumbers: 229, Isolated,
            "Keys that look like numbers are compared as numbers.",
            "keys::numbers_in_disguise_are_plain_text",
            "key \"01\" meets";
        LongKeysRefused: 230, Isolated,
            "The longest keys do not fit the index.",
            "keys::keys_of_every_length_are_stored",
            "the key is too long for the index";
        HashWithoutComparison: 231, Isolated,
            "Records are found by a short hash without comparing the key.",
            "keys::thousands_of_random_keys_never_meet",
            "answered Occupied";
        ScopeIgnored: 232, Isolated,
            "The scope is no part of the record key.",
            "scope::one_key_in_two_scopes_is_two_records",
            "answered Occupied";
        GlobalIsAName: 233, Isolated,
            "The global scope is kept under the name \"global\".",
            "scope::the_global_scope_is_apart_from_every_named_one",
            "scope \"global\" meets the global one";
        KeysWithPlainDigits: 258, Isolated,
            "Full-width digits in keys are taken for plain ones.",
            "keys::forms_of_unicode_tell_keys_apart",
            "key \"12\" meets";
        RecordsSharedWithNeighbour: 282, Isolated,
            "Two stores in one database share their records.",
            "neighbours::one_key_in_two_stores_is_two_records",
            "claimed in its neighbour";
        KeysWithoutNoncharacters: 289, Isolated,
            "Code points in keys that are no characters are replaced.",
            "keys::characters_at_the_edges_of_unicode_are_stored_or_refused",
            "meets one of those";
        KeysWithoutAccents: 521, Isolated,
            "Keys are compared without accents.",
            "keys::forms_of_unicode_tell_keys_apart",
            "meets one of those";
        KeyIsAPattern: 522, Isolated,
            "A completion goes to every record whose key its own stands for as a pattern.",
            "keys::patterns_and_quotes_are_plain_text",
            "complete by the holder answered AlreadyCompleted";
        ScopesIgnoreCase: 523, Isolated,
            "Scopes are compared without letter case.",
            "scope::one_key_in_two_scopes_is_two_records",
            "answered Occupied";
        ScopesTrimmed: 524, Isolated,
            "Scopes are trimmed.",
            "scope::scopes_are_compared_byte_for_byte",
            "meets one of those";
        ScopesCut: 525, Isolated,
            "Scopes are cut at 64 bytes.",
            "scope::scopes_are_compared_byte_for_byte",
            "meets one of those";
        ScopeJoinedToKey: 526, Isolated,
            "Scope and key are joined without anything between them.",
            "scope::bytes_do_not_move_between_scope_and_key",
            "a claim of the one is found under the other";
        TokenReachesNeighbours: 527, Isolated,
            "A completion finds its claim in other stores of the database too.",
            "neighbours::a_token_writes_in_its_own_store_only",
            "complete under the token of a neighbour's claim";
        RenewalIgnoresCase: 528, Isolated,
            "A renewal goes to every record whose key differs in letter case only.",
            "keys::what_happens_to_one_key_leaves_others_alone",
            "calls on the one have changed the other";
    } };
}

pub(super) use keys;
