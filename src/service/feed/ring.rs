//! The newest events of one thing that is watched, shared by all who watch it.

use std::collections::VecDeque;
use std::sync::Arc;

/// The most events that are kept.
const EVENTS_MAX: usize = 1_024;
/// About the most bytes that they hold together; the newest is kept however large it is.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// The newest events, numbered without a gap. Each reader knows the number of the event that it wants next, so that no
/// reader, however slow, costs more than that number.
#[derive(Debug)]
pub(super) struct Ring<E> {
    events: VecDeque<(Arc<E>, usize)>,
    /// The number of the oldest one that is kept.
    oldest: u64,
    bytes: usize,
}

/// What a reader finds at a number.
#[derive(Debug)]
pub(super) enum Found<E> {
    /// The event.
    Event(Arc<E>),
    /// Nothing yet.
    Nothing,
    /// Nothing any more: the reader was too slow.
    Gone,
}

impl<E> Default for Ring<E> {
    fn default() -> Self {
        Self { events: VecDeque::new(), oldest: 0, bytes: 0 }
    }
}

impl<E> Ring<E> {
    /// Adds the newest event, and lets go of the oldest ones if they are too many.
    pub(super) fn push(&mut self, event: E, bytes: usize) {
        self.events.push_back((Arc::new(event), bytes));
        self.bytes += bytes;
        while self.events.len() > EVENTS_MAX || (self.bytes > BYTES_MAX && self.events.len() > 1) {
            let Some((_, bytes)) = self.events.pop_front() else { break };
            self.bytes -= bytes;
            self.oldest += 1;
        }
    }

    /// Returns the number that the next event will have.
    pub(super) fn next(&self) -> u64 {
        self.oldest + self.events.len() as u64
    }

    /// Returns the event of a number.
    pub(super) fn get(&self, number: u64) -> Found<E> {
        let Some(at) = number.checked_sub(self.oldest) else { return Found::Gone };
        match usize::try_from(at).ok().and_then(|at| self.events.get(at)) {
            Some((event, _)) => Found::Event(Arc::clone(event)),
            None => Found::Nothing,
        }
    }

    /// Returns the number of the newest event of which something is true.
    pub(super) fn newest(&self, is_it: impl Fn(&E) -> bool) -> Option<u64> {
        self.events.iter().rposition(|(event, _)| is_it(event)).map(|at| self.oldest + at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_by_number_until_too_many_came_after_them() {
        let mut ring = Ring::default();
        for n in 0..=EVENTS_MAX {
            assert!(matches!(ring.get(n as u64), Found::Nothing));
            ring.push(n, 1);
        }
        assert!(matches!(ring.get(0), Found::Gone));
        assert!(matches!(ring.get(1), Found::Event(event) if *event == 1));
        assert_eq!(ring.newest(|n| *n == 7), Some(7));
        assert_eq!(ring.next(), EVENTS_MAX as u64 + 1);
    }

    #[test]
    fn large_events_push_out_others_but_never_themselves() {
        let mut ring = Ring::default();
        ring.push("small", 1);
        ring.push("large", BYTES_MAX + 1);
        assert!(matches!(ring.get(0), Found::Gone));
        assert!(matches!(ring.get(1), Found::Event(_)));
        ring.push("next", 1);
        assert!(matches!(ring.get(1), Found::Gone));
        assert_eq!(ring.bytes, 1);
    }
}
