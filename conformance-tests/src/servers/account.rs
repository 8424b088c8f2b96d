//! Who a server runs as.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::fixture::FixtureError;

/// The user that servers run as: the one that runs the tests, unless that is root. PostgreSQL refuses root, and nothing
/// that is to be killed and cut off should have its rights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account(Option<Ids>);

#[derive(Clone, Copy, Debug)]
struct Ids {
    user: u32,
    group: u32,
}

impl Account {
    pub(super) fn of_servers() -> Result<Self, FixtureError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self(None));
        }
        let users = fs::read_to_string(USERS)
            .map_err(|error| FixtureError::new(format!("failed to read {USERS}: {error}")))?;
        let ids = users.lines().find_map(unprivileged).ok_or_else(|| {
            FixtureError::new(format!("the tests run as root, and {USERS} has no user {UNPRIVILEGED:?}"))
        })?;
        Ok(Self(Some(ids)))
    }

    /// Lets `command` run as this user.
    pub(super) fn runs(self, command: &mut Command) {
        if let Some(ids) = self.0 {
            command.uid(ids.user).gid(ids.group);
        }
    }

    /// Gives `path` to this user.
    pub(super) fn owns(self, path: &Path) -> Result<(), FixtureError> {
        if let Some(ids) = self.0 {
            chown(path, Some(ids.user), Some(ids.group))?;
        }
        Ok(())
    }
}

/// `name:password:user:group:...`; on macOS both numbers of this user are negative.
fn unprivileged(line: &str) -> Option<Ids> {
    let mut fields = line.split(':');
    if fields.next() != Some(UNPRIVILEGED) {
        return None;
    }
    let mut number = || fields.next()?.parse::<i64>().ok().map(|number| number as u32);
    number();
    Some(Ids { user: number()?, group: number()? })
}

const USERS: &str = "/etc/passwd";
const UNPRIVILEGED: &str = "nobody";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unprivileged_user_is_found_among_the_others() {
        let users = ["root:x:0:0:root:/root:/bin/sh", "nobody:*:-2:65534:nobody:/nonexistent:/bin/false"];

        let found = users.into_iter().find_map(unprivileged).unwrap();

        assert_eq!((found.user, found.group), (4_294_967_294, 65_534));
    }
}
