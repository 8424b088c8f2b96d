//! The steps of a sequence, as values that mean something whatever came before them: any part of a sequence is one.

use proptest::prop_oneof;
use proptest::sample::select;
use proptest::strategy::{Just, Strategy};

use crate::call::Verb;
use crate::property::row;

/// What is played, on which keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) steps: Vec<Step>,
    /// How many of the names are used.
    pub(super) keys: usize,
    /// Names that are easily taken for one another, by their place in the list of such.
    pub(super) names: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// One claim, or a batch of several.
    Claim(Vec<Claim>),
    Renew {
        by: Caller,
        lease: Lease,
        checkpoint: Checkpoint,
    },
    Complete {
        by: Caller,
        result: Stored,
        retention_us: u64,
    },
    Release {
        by: Caller,
        keep_us: u64,
    },
    Purge {
        limit: u32,
    },
    /// A call of the verb that concerned the key comes once more: that which was made so many such calls before the
    /// last one.
    LateCopy {
        key: usize,
        verb: Verb,
        back: usize,
    },
    Clock(Tick),
}

/// A claim under a new token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// By its number, modulo how many there are.
    pub(super) key: usize,
    pub(super) expected: Expectation,
    pub(super) lease_us: u64,
    pub(super) keep_us: u64,
    pub(super) keep_unresolved_us: u64,
    pub(super) checkpoint: Checkpoint,
    pub(super) attempt: u32,
    pub(super) request: &'static str,
}

/// What a claim expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    Nothing,
    /// What is there; if nothing is, what was there last.
    Standing,
    /// What is there, with the revision before.
    Before,
    /// What is there, under another token.
    OtherToken,
}

/// Who writes what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) key: usize,
    pub(super) token: Credential,
    pub(super) revision: Numbering,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    /// The token of the record that is there; if none is, the last one that the key was claimed with.
    Holder,
    /// One that the key was claimed with before.
    Former,
    /// The last one that another key was claimed with.
    OfOtherKey,
    /// The holder's, but for one bit of its last byte.
    AlmostHolder,
    /// One that nothing was claimed with.
    Stranger,
}

/// Which number a write has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// The one after the highest that its token was used with.
    Next,
    /// That of the record that is there.
    Equal,
    /// The one before it.
    Before,
    /// One far above those before.
    Far,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lease {
    Extend { us: u64 },
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkpoint {
    None,
    Text,
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Text,
    Empty,
    NotRetained,
    /// Headers twice and in no order, and bytes that are no text.
    Raw,
}

/// How time passes on a clock that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tick {
    /// To one of the key's next deadlines, or one tick to either side of it.
    Deadline {
        key: usize,
        ahead: usize,
        side: Side,
    },
    Little {
        us: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    At,
    Before,
    Behind,
}

/// Sequences of so many steps, on two or three keys.
pub(super) fn sequences(steps: usize) -> impl Strategy<Value = Sequence> {
    // Simplified in this order.
    (row(step(), Just(steps)), 2..=3_usize, 0..NAMES.len()).prop_map(|(steps, keys, names)| Sequence {
        steps,
        keys,
        names,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => claims().prop_map(Step::Claim),
        12 => (caller(), result(), select(&[30_000_000_u64, 1, 600_000_500, 7_200_000_000][..]))
            .prop_map(|(by, result, retention_us)| Step::Complete { by, result, retention_us }),
        16 => (caller(), lease(), checkpoint())
            .prop_map(|(by, lease, checkpoint)| Step::Renew { by, lease, checkpoint }),
        8 => (caller(), select(&[15_000_000_u64, 1, 900_000_000][..]))
            .prop_map(|(by, keep_us)| Step::Release { by, keep_us }),
        10 => late_copy(),
        6 => select(&[1_u32, 1_000, 0][..]).prop_map(|limit| Step::Purge { limit }),
        20 => tick().prop_map(Step::Clock),
    ]
}

fn late_copy() -> impl Strategy<Value = Step> {
    let verbs = [Verb::Claim, Verb::Complete, Verb::Renew, Verb::Release, Verb::ClaimMany];
    (0..3_usize, select(verbs.to_vec()), 0..3_usize).prop_map(|(key, verb, back)| Step::LateCopy {
        key,
        verb,
        back,
    })
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    row(claim(), prop_oneof![86 => 1..=1_usize, 11 => 2..=3_usize, 3 => 9..=12_usize])
}

fn claim() -> impl Strategy<Value = Claim> {
    let expected = prop_oneof![
        45 => Just(Expectation::Nothing),
        40 => Just(Expectation::Standing),
        7 => Just(Expectation::Before),
        8 => Just(Expectation::OtherToken),
    ];
    let lease_us = select(&[10_000_000_u64, 1, 1_500_000][..]);
    let keep_us = select(&[100_000_000_u64, 20_500_000, 7_200_000_000][..]);
    let keep_unresolved_us = select(&[300_000_000_u64, 50_000_000, 10_800_000_000][..]);
    let attempt = select(&[1_u32, 2, 3][..]);
    let request = select(&["charge", "refund"][..]);
    (0..3_usize, expected, lease_us, keep_us, keep_unresolved_us, checkpoint(), attempt, request).prop_map(
        |(key, expected, lease_us, keep_us, keep_unresolved_us, checkpoint, attempt, request)| Claim {
            key,
            expected,
            lease_us,
            keep_us,
            keep_unresolved_us,
            checkpoint,
            attempt,
            request,
        },
    )
}

/// With a token that is not that of the key's holder in a quarter of the calls, crossed with another one in 15 of 100.
fn caller() -> impl Strategy<Value = Caller> {
    let token = prop_oneof![
        75 => Just(Credential::Holder),
        10 => Just(Credential::Former),
        8 => Just(Credential::OfOtherKey),
        4 => Just(Credential::AlmostHolder),
        3 => Just(Credential::Stranger),
    ];
    let revision = prop_oneof![
        77 => Just(Numbering::Next),
        10 => Just(Numbering::Equal),
        10 => Just(Numbering::Before),
        3 => Just(Numbering::Far),
    ];
    (0..3_usize, token, revision).prop_map(|(key, token, revision)| Caller { key, token, revision })
}

fn lease() -> impl Strategy<Value = Lease> {
    prop_oneof![
        3 => select(&[10_000_000_u64, 1, 1_500_000, 500_000_000][..]).prop_map(|us| Lease::Extend { us }),
        1 => Just(Lease::End),
    ]
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    prop_oneof![6 => Just(Checkpoint::None), 3 => Just(Checkpoint::Text), 1 => Just(Checkpoint::Empty)]
}

fn result() -> impl Strategy<Value = Stored> {
    select(&[Stored::Text, Stored::Empty, Stored::NotRetained, Stored::Raw][..])
}

fn tick() -> impl Strategy<Value = Tick> {
    let side = select(&[Side::At, Side::Before, Side::Behind][..]);
    prop_oneof![
        4 => (0..3_usize, 0..4_usize, side).prop_map(|(key, ahead, side)| Tick::Deadline { key, ahead, side }),
        1 => (1..1_000_000_u64).prop_map(|us| Tick::Little { us }),
    ]
}

/// Scope and key of names that a store may take for one another. The first ones are not easily confused, so that a fault
/// that has nothing to do with names is shown with these.
pub(super) const NAMES: [[(&str, &str); 3]; 11] = [
    [("", "a"), ("", "b"), ("", "c")],
    [("", "a"), ("", "A"), ("", "á")],
    [("", "a"), ("", "a "), ("", " a")],
    [("", "é"), ("", "e\u{301}"), ("", "e")],
    [("", "1"), ("", "01"), ("", "1.0")],
    [("", "12"), ("", "１２"), ("", "1２")],
    [("", "a%"), ("", "a_"), ("", "ab")],
    [("", "a\\b"), ("", "a\\\\b"), ("", "a/b")],
    [(" one", "a"), (" two", "a"), ("", "a")],
    [(":b", "c"), ("", "b:c"), (":", "b:c")],
    // Alike in their first 64 bytes.
    [
        ("", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"),
        ("", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef1"),
    ],
];
