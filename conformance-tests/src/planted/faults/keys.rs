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
    } };
}

pub(super) use keys;
