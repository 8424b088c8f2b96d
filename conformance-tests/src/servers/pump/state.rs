//! What a pump was told, what it has seen, and what it does with a packet.

use std::time::Duration;

use super::{Arrivals, Counts, Ending, Traffic};

#[derive(Debug)]
pub(super) struct State {
    pub(super) arrivals_wanted: Arrivals,
    /// What is done with arrivals by now.
    pub(super) arrivals: Arrivals,
    traffic: Traffic,
    /// How often the traffic was set.
    pub(super) version: u64,
    /// Since the traffic was set.
    packets: u64,
    reply_bytes: u64,
    pub(super) has_held: bool,
    pub(super) counts: Counts,
    /// Connections made before this number was reached end as `how` says.
    pub(super) generation: u64,
    pub(super) how: Ending,
    /// Connections of this generation, and of those before it.
    open: u64,
    pub(super) ending: u64,
    pub(super) is_closed: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            arrivals_wanted: Arrivals::Accept,
            arrivals: Arrivals::Accept,
            traffic: Traffic::Forward,
            version: 0,
            packets: 0,
            reply_bytes: 0,
            has_held: false,
            counts: Counts::default(),
            generation: 0,
            how: Ending::Close,
            open: 0,
            ending: 0,
            is_closed: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Reply,
}

/// What is done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Forward,
    Delay(Duration),
    Drop,
    /// Until the traffic is set anew.
    Hold,
    /// So many bytes of it pass, and then the connection ends.
    Cut(usize, Ending),
}

impl State {
    pub(super) fn set_traffic(&mut self, traffic: Traffic) {
        self.traffic = traffic;
        self.version += 1;
        (self.packets, self.reply_bytes, self.has_held) = (0, 0, false);
    }

    /// What is done with a packet of so many bytes.
    pub(super) fn judge(&mut self, direction: Direction, bytes: usize) -> Verdict {
        let verdict = match (self.traffic, direction) {
            (Traffic::DropRequests, Direction::Request) => Verdict::Drop,
            (Traffic::HoldReplies, Direction::Reply) => Verdict::Hold,
            (Traffic::ResetBehindRequest, Direction::Request) => Verdict::Cut(bytes, Ending::ResetClient),
            (Traffic::CutReplyAt(last), Direction::Reply) if last <= self.reply_bytes + bytes as u64 => {
                Verdict::Cut((last - self.reply_bytes) as usize, Ending::Reset)
            }
            (Traffic::CutAtPacket(last), _) if last <= self.packets + 1 => Verdict::Cut(0, Ending::Reset),
            (Traffic::HoldAtPacket(last), _) if last <= self.packets + 1 => Verdict::Hold,
            (Traffic::DelayRequests(delay), Direction::Request)
            | (Traffic::DelayReplies(delay), Direction::Reply) => Verdict::Delay(delay),
            _ => Verdict::Forward,
        };
        match verdict {
            Verdict::Hold => self.has_held = true,
            Verdict::Cut(..) => self.set_traffic(Traffic::Forward),
            _ => {
                self.packets += 1;
                self.reply_bytes += if direction == Direction::Reply { bytes as u64 } else { 0 };
            }
        }
        verdict
    }

    pub(super) fn opened(&mut self) -> u64 {
        self.counts.connections += 1;
        self.open += 1;
        self.generation
    }

    pub(super) fn closed(&mut self, generation: u64) {
        let connections = if generation < self.generation { &mut self.ending } else { &mut self.open };
        *connections -= 1;
    }

    pub(super) fn end_all(&mut self, how: Ending) {
        self.generation += 1;
        self.how = how;
        self.ending += std::mem::take(&mut self.open);
    }
}
