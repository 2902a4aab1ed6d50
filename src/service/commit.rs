//! From a batch of calls on one list to their answers: load, decide in order, commit, and on conflict again.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::change::{Answered, ChangeRequest, Done};
use super::precondition::Verdict;
use super::ticket::Ticket;
use super::{Error, Lists};
use crate::domain::{Change, Operation, Stamp, TaskList, ThreadKey, Version, apply};
use crate::store::{Commit, Committed, KeptAnswer, Loaded, StoreError};

/// The longest pause before a conflicting batch is decided anew.
const PAUSE_MAX: Duration = Duration::from_millis(16);
/// How many changes are read at once when a list is to be restored.
const CHANGES_PAGE: u32 = 500;

/// Answers every call of the batch.
pub(super) async fn settle(lists: &Lists, key: &ThreadKey, tickets: Vec<Ticket>) {
    let mut batch = Batch { lists, key, tickets, undecided: Vec::new(), guesses: true };
    let mut pause = Duration::from_millis(1);
    while !batch.is_late() {
        match batch.pass().await {
            Ok(Pass::Answered(answers)) => return batch.answer(answers),
            Ok(Pass::Again) if batch.guesses => {
                batch.guesses = false;
                continue;
            }
            Ok(Pass::Again) => {}
            // With a commit undecided, no error says that nothing has happened, and no call may begin anew.
            Err(_) if !batch.undecided.is_empty() => {}
            // One call of the batch may be what the store does not take: each goes alone.
            Err(error) if batch.tickets.len() > 1 && error.is_about_data() => return batch.split().await,
            Err(error) => return batch.answer_alike(&error),
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
    let error = if batch.undecided.is_empty() { Error::Busy } else { Error::Undecided };
    batch.answer_alike(&error);
}

struct Batch<'a> {
    lists: &'a Lists,
    key: &'a ThreadKey,
    tickets: Vec<Ticket>,
    /// Commits of this batch of which nobody knows whether they happened, with the answers if they did.
    undecided: Vec<(Version, Decided)>,
    /// Whether to decide on what is remembered of the list and let the commit tell whether it was right.
    guesses: bool,
}

/// What one call came to, if the commit that it is part of happens.
type Decision = Result<Done, Error>;

/// What one pass over load, decide and commit led to.
enum Pass {
    Answered(Vec<Result<Answered, Error>>),
    Again,
}

/// A list on which every call of the batch was decided, one after the other.
struct Decided {
    list: TaskList,
    changes: Vec<Change>,
    decisions: Vec<Decision>,
}

impl Batch<'_> {
    async fn pass(&mut self) -> Result<Pass, Error> {
        let guess = self.guess();
        self.guesses = guess.is_some();
        let loaded = match guess {
            Some(guess) => guess,
            None => self.load().await?,
        };
        if let Some(decided) = self.find_undecided().await? {
            return Ok(self.done(decided));
        }
        if let Some(kept) = &loaded.kept {
            return Ok(Pass::Answered(self.tickets.iter().map(|ticket| replayed(kept, &ticket.request)).collect()));
        }
        let version = self.lists.0.clock.draw_version();
        let decided = self.decide(&loaded, version).await?;
        let Some(commit) = self.commit(&loaded, version, &decided) else {
            // Nothing is stored that would tell whether the guess was right.
            let stands = !self.guesses || self.is_newest(&loaded).await?;
            return Ok(if stands { fresh(decided.decisions) } else { Pass::Again });
        };
        self.store(&commit, decided).await
    }

    async fn store(&mut self, commit: &Commit, decided: Decided) -> Result<Pass, Error> {
        let cache = &self.lists.0.cache;
        let outcome = self.lists.0.store.commit(commit).await;
        match outcome {
            Ok(Committed::Done) => cache.put(self.key, &commit.list, commit.version),
            Ok(Committed::Conflict) | Err(_) => cache.forget(self.key),
        }
        match outcome {
            Ok(Committed::Done) => Ok(self.done(decided)),
            Ok(Committed::Conflict) => Ok(Pass::Again),
            Err(StoreError::Unknown(cause)) => {
                tracing::warn!(error = %cause, thread.id = %self.key.thread, "the outcome of a commit is unknown");
                self.undecided.push((commit.version, decided));
                self.guesses = false;
                Ok(Pass::Again)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a pass whose commit has happened: who follows the list is told before the callers are.
    fn done(&self, decided: Decided) -> Pass {
        self.lists.0.feed.committed(self.lists, self.key, &decided.changes);
        self.lists.forget_beyond_count(self.key, &decided.changes);
        fresh(decided.decisions)
    }

    /// Returns what is remembered of the list, if that is all that the calls of this batch need.
    fn guess(&self) -> Option<Loaded> {
        let is_wanted = self.guesses && self.tickets.iter().all(|ticket| ticket.request.may_be_guessed());
        let remembered = self.lists.0.cache.get(self.key).filter(|remembered| is_wanted && !remembered.has_leases())?;
        Some(remembered.as_loaded(self.lists.0.clock.now()))
    }

    async fn is_newest(&self, guess: &Loaded) -> Result<bool, Error> {
        let current = self.lists.current(self.key, self.deadline()).await?;
        Ok(current.version == guess.version)
    }

    async fn load(&self) -> Result<Loaded, Error> {
        let retry = self.tickets.iter().find_map(|ticket| ticket.request.retry.as_ref());
        if retry.is_none() && self.undecided.is_empty() {
            return self.lists.current(self.key, self.deadline()).await;
        }
        self.lists.in_time(self.deadline(), self.lists.0.store.load(self.key, retry.map(|retry| &retry.key))).await
    }

    /// Looks for commits of this batch that happened although nobody said so.
    ///
    /// Called after a load and before a commit on what it returned: a commit that comes to an end in between moves the
    /// version, so that the new commit is a conflict and this is asked again.
    async fn find_undecided(&mut self) -> Result<Option<Decided>, Error> {
        for at in 0..self.undecided.len() {
            let Some((version, _)) = self.undecided.get(at) else { break };
            let happened = self.lists.0.store.contains(self.key, *version);
            if self.lists.in_time(self.deadline(), happened).await? {
                return Ok(Some(self.undecided.swap_remove(at).1));
            }
        }
        Ok(None)
    }

    async fn decide(&self, loaded: &Loaded, version: Version) -> Result<Decided, Error> {
        let mut decided = Decided { list: loaded.list.clone(), changes: Vec::new(), decisions: Vec::new() };
        if let Some(expiry) = self.lists.expiry_due(loaded, version) {
            decided.list = expiry.list;
            decided.changes.extend(expiry.change);
        }
        for ticket in &self.tickets {
            let operation = self.completed_operation(&ticket.request.operation, loaded, &decided.changes).await?;
            let stamp = Stamp {
                token: ticket.request.token.clone(),
                ..self.lists.stamp(ticket.actor.clone(), version, loaded.at)
            };
            decided.decide(&ticket.request, &operation, &stamp, self.lists);
        }
        Ok(decided)
    }

    /// Brings along what an operation needs to know besides the list: for a restore, the changes to undo. The last of them
    /// may not be stored yet: leases that end now end before it.
    async fn completed_operation(
        &self,
        operation: &Operation,
        loaded: &Loaded,
        decided: &[Change],
    ) -> Result<Operation, Error> {
        let Operation::Restore { revision, .. } = operation else { return Ok(operation.clone()) };
        let newest = loaded.list.revision();
        let mut since: Vec<Change> = Vec::new();
        let mut after = *revision;
        while after < newest {
            let page = self.lists.changes(self.key, after, CHANGES_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.revision;
            since.extend(page.into_iter().filter(|change| change.revision <= newest));
        }
        since.extend(decided.iter().filter(|change| change.revision > *revision).cloned());
        Ok(Operation::Restore { revision: *revision, since })
    }

    /// Returns what is to be stored, if anything is.
    fn commit(&self, loaded: &Loaded, version: Version, decided: &Decided) -> Option<Commit> {
        let difference = decided.list.difference_from(&loaded.list);
        let written_down = |(ticket, decision): (&Ticket, &Decision)| {
            let (retry, done) = (ticket.request.retry.as_ref()?, decision.as_ref().ok()?);
            let kept = KeptAnswer { fingerprint: retry.fingerprint.clone(), answer: (retry.write_down)(done) };
            Some((retry.key.clone(), kept))
        };
        let answers: Vec<_> = self.tickets.iter().zip(&decided.decisions).filter_map(written_down).collect();
        if difference.is_empty() && answers.is_empty() {
            return None;
        }
        Some(Commit {
            key: self.key.clone(),
            expected: loaded.version,
            version,
            list: decided.list.clone(),
            upserts: difference.upserts,
            removals: difference.removals,
            changes: decided.changes.clone(),
            answers,
            forgets_changes: decided.list.deleted_at_revision() != loaded.list.deleted_at_revision(),
            at: self.lists.0.clock.now(),
        })
    }

    fn deadline(&self) -> Instant {
        self.tickets.iter().map(|ticket| ticket.deadline).max().unwrap_or_else(Instant::now)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline()
    }

    fn answer(self, answers: Vec<Result<Answered, Error>>) {
        for (ticket, answer) in self.tickets.into_iter().zip(answers) {
            // Nobody waits any more: what was done stays done.
            let _ = ticket.reply.send(answer);
        }
    }

    fn answer_alike(self, error: &Error) {
        let answers = self.tickets.iter().map(|_| Err(error.clone())).collect();
        self.answer(answers);
    }

    async fn split(self) {
        for ticket in self.tickets {
            Box::pin(settle(self.lists, self.key, vec![ticket])).await;
        }
    }
}

impl Decided {
    fn decide(&mut self, request: &ChangeRequest, operation: &Operation, stamp: &Stamp, lists: &Lists) {
        let list = &self.list;
        let refused = |refusal| Error::Refused { refusal: Box::new(refusal), list: Box::new(list.clone()) };
        let decision = match request.precondition.as_ref().map(|condition| condition.judge(list)) {
            None | Some(Verdict::Holds) => apply(list, operation, stamp, lists.limits()).map_err(refused),
            Some(Verdict::Fails) => Err(Error::PreconditionFailed { list: Box::new(list.clone()) }),
            Some(Verdict::Refused(refusal)) => Err(refused(refusal)),
        };
        let decision = decision.map(|applied| {
            self.list = applied.list;
            let changed = applied.change.is_some();
            self.changes.extend(applied.change);
            Done { list: self.list.clone(), changed, outcome: applied.outcome }
        });
        self.decisions.push(decision);
    }
}

fn fresh(decisions: Vec<Decision>) -> Pass {
    let answer = |decision: Decision| decision.map(|done| Answered::Fresh(Box::new(done)));
    Pass::Answered(decisions.into_iter().map(answer).collect())
}

fn replayed(kept: &KeptAnswer, request: &ChangeRequest) -> Result<Answered, Error> {
    match &request.retry {
        Some(retry) if retry.fingerprint == kept.fingerprint => Ok(Answered::Replayed(kept.answer.clone())),
        Some(_) | None => Err(Error::KeyReused),
    }
}
