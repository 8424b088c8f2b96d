//! Who asks.

use axum::http::HeaderMap;
use onceonly::Scope;

use crate::problem::{ACCOUNT_INVALID, Problem};

/// The account that a request is made for.
///
/// Here a header names it, and anybody may name any. A real server takes it from whatever has authenticated the caller,
/// before a key is looked at: a replay must never reach somebody who may not see the response.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Its name.
    pub(crate) name: String,
    /// The scope of its keys.
    pub(crate) scope: Scope,
}

impl Account {
    /// Reads the header `X-Account`; `acct_demo` if there is none.
    ///
    /// # Errors
    /// A problem, if the header is there and holds no account, or more than one.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut lines = headers.get_all("x-account").iter();
        let name = match (lines.next(), lines.next()) {
            (None, _) => "acct_demo",
            (Some(line), None) => line.to_str().map_err(|_| invalid("X-Account is printable ASCII."))?,
            (Some(_), Some(_)) => return Err(invalid("Send one X-Account header.")),
        };
        let scope = Scope::named(name).map_err(|error| invalid(&error.to_string()))?;
        Ok(Self { name: name.into(), scope })
    }
}

fn invalid(detail: &str) -> Problem {
    Problem::new(&ACCOUNT_INVALID, detail)
}
