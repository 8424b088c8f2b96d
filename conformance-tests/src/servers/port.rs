//! Ports for servers.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::fixture::FixtureError;

/// Calls `start` with a port of the loopback interface that is free, and with another one if somebody else has taken that
/// in the meantime.
///
/// Ports are chosen from below those that Linux and macOS give to outgoing connections, so that none of these takes one
/// while its server is down.
pub(super) fn find<T>(
    mut start: impl FnMut(u16) -> Result<T, FixtureError>,
) -> Result<(u16, T), FixtureError> {
    let mut tries = 0;
    loop {
        let port = LOWEST + (getrandom::u32()? % COUNT) as u16;
        tries += 1;
        if !is_free(port) && tries < TRIES {
            continue;
        }
        match start(port) {
            Err(_) if !is_free(port) && tries < TRIES => {}
            started => return started.map(|started| (port, started)),
        }
    }
}

pub(super) fn address(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(address(port)).is_ok()
}

const LOWEST: u16 = 10_240;
const COUNT: u32 = 20_000;
const TRIES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_was_taken_in_the_meantime_is_given_up_for_another() {
        let mut rivals = Vec::new();

        let (port, ()) = find(|port| {
            if rivals.len() < 3 {
                rivals.push(TcpListener::bind(address(port))?);
                return Err(FixtureError::new("the address is in use"));
            }
            Ok(())
        })
        .unwrap();

        assert!(rivals.iter().all(|rival| rival.local_addr().unwrap().port() != port));
    }

    #[test]
    fn a_start_that_fails_for_another_reason_is_not_repeated() {
        let mut starts = 0;

        let failed = find(|_| -> Result<(), FixtureError> {
            starts += 1;
            Err(FixtureError::new("no data folder"))
        });

        assert!(failed.is_err());
        assert_eq!(starts, 1);
    }
}
