//! Faults in what a store takes for the same key.

use onceonly::{IdempotencyKey, RecordKey, Scope};

use super::faults::Fault;
use super::store::PlantedStore;
use crate::reference::Place;

impl PlantedStore {
    /// The key that the store confuses `key` with.
    pub(super) fn altered_key(&self, key: &RecordKey) -> RecordKey {
        let (scope, text) = (key.scope().clone(), key.key().as_str());
        match self.fault {
            Some(Fault::KeysIgnoreCase) => renamed(scope, &text.to_lowercase()),
            Some(Fault::KeysCut) => renamed(scope, cut(text, 64)),
            Some(Fault::KeysTrimmed) => renamed(scope, text.trim()),
            Some(Fault::KeysNormalised) => renamed(scope, &text.replace("e\u{301}", "é")),
            Some(Fault::KeysWithPlainDigits) => {
                renamed(scope, &text.chars().map(plain_digit).collect::<String>())
            }
            Some(Fault::KeysWithoutNoncharacters) => {
                renamed(scope, &text.chars().map(assigned).collect::<String>())
            }
            Some(Fault::KeysUnescaped) => renamed(scope, &text.replace("\\\\", "\\")),
            Some(Fault::KeysAsNumbers) => match text.parse::<f64>() {
                Ok(number) => renamed(scope, &number.to_string()),
                Err(_) => key.clone(),
            },
            Some(Fault::HashWithoutComparison) => {
                renamed(Scope::global(), &format!("{:02x}", key.digest()[0]))
            }
            Some(Fault::ScopeJoinedByColon) => {
                let joined = format!("{}:{text}", scope.name().unwrap_or_default());
                // Both parts together may be longer than a key may be; their end tells them apart.
                renamed(Scope::global(), cut(&joined, 255))
            }
            Some(Fault::ScopeJoinedToKey) => {
                let joined = format!("{}{text}", scope.name().unwrap_or_default());
                renamed(Scope::global(), cut(&joined, 255))
            }
            Some(Fault::KeysWithoutIgnorables) => renamed(scope, &text.replace(['\u{ad}', '\u{200b}'], "")),
            Some(Fault::KeysWithoutAccents) => {
                renamed(scope, &text.chars().filter_map(base_letter).collect::<String>())
            }
            Some(Fault::ScopesIgnoreCase) => in_scope(key, str::to_lowercase),
            Some(Fault::ScopesTrimmed) => in_scope(key, |name| name.trim().to_owned()),
            Some(Fault::ScopesCut) => in_scope(key, |name| cut(name, 64).to_owned()),
            Some(Fault::ScopeIgnored) => renamed(Scope::global(), text),
            Some(Fault::GlobalIsAName) if scope.name().is_none() => match Scope::named("global") {
                Ok(scope) => renamed(scope, text),
                Err(_) => key.clone(),
            },
            _ => key.clone(),
        }
    }
}

/// The key whose record stands there.
pub(super) fn key_at((scope, text): &Place) -> RecordKey {
    let scope = scope.as_deref().map_or_else(|| Ok(Scope::global()), Scope::named);
    match scope {
        Ok(scope) => renamed(scope, text),
        Err(error) => panic!("records stand under scopes: {error}"),
    }
}

/// Whether `text` is what `pattern` stands for, in which `%` is any text and `_` any letter.
pub(super) fn is_like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|skipped| is_like(&text[skipped..], rest)),
        [letter, rest @ ..] => match text {
            [first, others @ ..] => (*letter == '_' || letter == first) && is_like(others, rest),
            [] => false,
        },
    }
}

/// The same key in the scope whose name is what `altered` makes of its own.
fn in_scope(key: &RecordKey, altered: impl Fn(&str) -> String) -> RecordKey {
    let scope = key.scope().name().map(|name| Scope::named(&altered(name)));
    match scope {
        Some(Ok(scope)) => RecordKey::new(scope, key.key().clone()),
        _ => key.clone(),
    }
}

fn renamed(scope: Scope, text: &str) -> RecordKey {
    match IdempotencyKey::new(text) {
        Ok(key) => RecordKey::new(scope, key),
        Err(error) => panic!("{text:?} is made of a key: {error}"),
    }
}

/// A letter without what stands above it; none for what only stands above others.
fn base_letter(letter: char) -> Option<char> {
    match letter {
        'é' => Some('e'),
        'Å' | '\u{212b}' => Some('A'),
        '\u{300}'..='\u{36f}' => None,
        _ => Some(letter),
    }
}

/// The ASCII digit in place of a full-width one.
fn plain_digit(letter: char) -> char {
    match letter {
        '\u{ff10}'..='\u{ff19}' => {
            char::from_u32(u32::from(letter) - 0xff10 + u32::from('0')).unwrap_or(letter)
        }
        _ => letter,
    }
}

/// What a text library puts in place of a code point that stands for no character.
fn assigned(letter: char) -> char {
    let none = ('\u{fdd0}'..='\u{fdef}').contains(&letter) || u32::from(letter) & 0xfffe == 0xfffe;
    if none { char::REPLACEMENT_CHARACTER } else { letter }
}

/// At most the first `bytes` bytes, at a letter's end.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
