//! The tasks that tell other processes of changes, and look for theirs.
//!
//! None of them keeps the lists open: each ends when the last handle to them is gone.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::registry::Queue;
use super::resource_topic::ResourceTopic;
use super::topic::{At, Topic};
use super::{ANNOUNCE_INTERVAL, COMPARE_INTERVAL, Outbox, REPAIR_INTERVAL};
use crate::domain::{Revision, ThreadKey};
use crate::service::{Error, Lists, Parts};
use crate::store::Position;

/// The most topics that one statement brings up to date.
const TOPICS_MAX: usize = 256;
/// The most changes that one statement fetches for all of them.
const CHANGES_MAX: usize = 2_048;
/// The most changes that one statement fetches for one of them.
const CHANGES_OF_ONE_MAX: usize = 512;
/// The most topics that one statement compares.
const COMPARED_MAX: usize = 1_000;
/// The pause before asking a store again that did not answer.
const PAUSE: Duration = Duration::from_millis(500);

/// Announces until the lists are closed: calls that change lists go on after the last reader was sent away.
pub(super) fn start_announcing(lists: &Lists) {
    let (outbox, mut stopping) = (Arc::clone(&lists.0.feed.outbox), lists.0.feed.stopping());
    let task = announce(Arc::downgrade(&lists.0), outbox);
    tokio::spawn(async move {
        tokio::select! {
            () = async { while stopping.changed().await.is_ok() {} } => {}
            () = task => {}
        }
    });
}

pub(super) fn start_looking(lists: &Lists) {
    let feed = &lists.0.feed;
    let (behind, resources_behind) = (Arc::clone(&feed.behind), Arc::clone(&feed.resources_behind));
    spawn(lists, move |lists| pull(lists, behind));
    spawn(lists, move |lists| pull_resources(lists, resources_behind));
    spawn(lists, repair);
    if feed.announces {
        spawn(lists, listen);
    }
}

/// Lets a task run as long as somebody may follow.
fn spawn<T>(lists: &Lists, task: impl FnOnce(Weak<Parts>) -> T)
where
    T: Future<Output = ()> + Send + 'static,
{
    let mut stopping = lists.0.feed.stopping();
    let task = task(Arc::downgrade(&lists.0));
    tokio::spawn(async move {
        tokio::select! {
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
            () = task => {}
        }
    });
}

async fn announce(lists: Weak<Parts>, outbox: Arc<Outbox>) {
    loop {
        outbox.bell.notified().await;
        let notices = outbox.take();
        let Some(store) = lists.upgrade().map(|parts| Arc::clone(&parts.store)) else { return };
        if let Err(error) = store.announce(&notices).await {
            tracing::warn!(%error, "changes could not be announced; other replicas find them by themselves");
        }
        sleep(ANNOUNCE_INTERVAL).await;
    }
}

async fn listen(lists: Weak<Parts>) {
    loop {
        let Some(store) = lists.upgrade().map(|parts| Arc::clone(&parts.store)) else { return };
        let error = match store.listen().await {
            Ok(Some(mut hearing)) => loop {
                // What was announced while nobody listened is found by a comparison.
                if !set_listening(&lists, true) {
                    return;
                }
                let heard = hearing.hear().await;
                let Some(parts) = lists.upgrade() else { return };
                match heard {
                    Ok(notices) => parts.feed.heard(&notices),
                    Err(error) => break error,
                }
            },
            Ok(None) => return,
            Err(error) => error,
        };
        set_listening(&lists, false);
        tracing::warn!(%error, "announcements of other replicas are not heard; looking for changes instead");
        sleep(PAUSE).await;
    }
}

fn set_listening(lists: &Weak<Parts>, is_listening: bool) -> bool {
    let Some(parts) = lists.upgrade() else { return false };
    if parts.feed.is_listening.swap(is_listening, Ordering::AcqRel) != is_listening {
        parts.feed.compare.notify_one();
    }
    true
}

/// Brings topics up to date, as many at a time as are behind.
async fn pull(lists: Weak<Parts>, behind: Arc<Queue<Topic>>) {
    loop {
        let topics = behind.take(TOPICS_MAX).await;
        let Some(lists) = lists.upgrade().map(Lists) else { return };
        if let Err(error) = lists.pull(topics).await {
            tracing::warn!(%error, "changes could not be fetched; they are looked for again");
        }
    }
}

async fn pull_resources(lists: Weak<Parts>, behind: Arc<Queue<ResourceTopic>>) {
    loop {
        let topics = behind.take(TOPICS_MAX).await;
        let begun = Instant::now();
        for topic in topics {
            let Some(lists) = lists.upgrade().map(Lists) else { return };
            if let Err(error) = lists.sweep(&topic).await {
                tracing::warn!(%error, "changes of a resource could not be fetched; they are looked for again");
            }
        }
        // What is committed meanwhile is fetched together. While another transaction holds the horizon back the same changes
        // are read again and again: that must not take all of a connection.
        sleep(ANNOUNCE_INTERVAL.max(begun.elapsed())).await;
    }
}

/// Compares topics with the store, forever.
async fn repair(lists: Weak<Parts>) {
    loop {
        let Some(parts) = lists.upgrade() else { return };
        let lists = Lists(Arc::clone(&parts));
        let pause = match lists.compare().await {
            Ok(()) if parts.feed.is_listening.load(Ordering::Acquire) => REPAIR_INTERVAL,
            Ok(()) => COMPARE_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "followed lists could not be compared with the database");
                REPAIR_INTERVAL
            }
        };
        let bell = Arc::clone(&parts.feed.compare);
        drop((parts, lists));
        tokio::select! {
            () = sleep(pause) => {}
            () = bell.notified() => {}
        }
    }
}

impl Lists {
    async fn pull(&self, topics: Vec<Arc<Topic>>) -> Result<(), Error> {
        let (broken, behind): (Vec<_>, Vec<_>) = topics.into_iter().partition(|topic| topic.is_broken());
        for topic in broken {
            self.reload(&topic, topic.at().unwrap_or_default()).await?;
        }
        let was: Vec<At> = behind.iter().map(|topic| topic.at().unwrap_or_default()).collect();
        let asked: Vec<(ThreadKey, Revision)> =
            behind.iter().zip(&was).map(|(topic, was)| (topic.key.clone(), was.revision)).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let count = (CHANGES_MAX / asked.len()).min(CHANGES_OF_ONE_MAX);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let found = self.in_time(self.deadline(), self.0.store.changes_after(&asked, count)).await?;
        for ((topic, was), changes) in behind.iter().zip(was).zip(found) {
            topic.publish(changes);
            if topic.is_behind() && topic.at() == Some(was) {
                // The changes that would lead on are not kept any more.
                self.reload(topic, was).await?;
            }
            self.0.feed.look_if_behind(topic);
        }
        Ok(())
    }

    async fn reload(&self, topic: &Topic, was: At) -> Result<(), Error> {
        let loaded = self.in_time(self.deadline(), self.0.store.load(&topic.key, None)).await?;
        topic.reset(was, loaded.list);
        Ok(())
    }

    /// Finds topics that are behind, and leases that have ended in lists that somebody follows.
    async fn compare(&self) -> Result<(), Error> {
        let mut ended: Vec<ThreadKey> = Vec::new();
        for topics in self.0.feed.threads.all().chunks(COMPARED_MAX) {
            // Before the store is asked: what is published meanwhile is newer than the answer.
            let was: Vec<Option<At>> = topics.iter().map(|topic| topic.at()).collect();
            let keys: Vec<ThreadKey> = topics.iter().map(|topic| topic.key.clone()).collect();
            let positions = self.in_time(self.deadline(), self.0.store.positions(&keys)).await?;
            for ((topic, was), is) in topics.iter().zip(was).zip(positions) {
                self.compare_one(topic, was, is, &mut ended);
            }
        }
        self.compare_resources(&mut ended).await?;
        self.expire(ended);
        Ok(())
    }

    fn compare_one(&self, topic: &Arc<Topic>, was: Option<At>, is: Position, ended: &mut Vec<ThreadKey>) {
        if is.has_ended_lease {
            ended.push(topic.key.clone());
        }
        if let Some(was) = was {
            topic.compare(was, is);
            self.0.feed.look_if_behind(topic);
        }
    }

    async fn compare_resources(&self, ended: &mut Vec<ThreadKey>) -> Result<(), Error> {
        let topics = self.0.feed.resources.all();
        if topics.is_empty() {
            return Ok(());
        }
        let from: Vec<_> = topics.iter().map(|topic| (topic.resource.clone(), topic.from())).collect();
        let has_more = self.in_time(self.deadline(), self.0.store.has_changes_from(&from)).await?;
        for (topic, _) in topics.iter().zip(has_more).filter(|(_, has_more)| *has_more) {
            self.0.feed.resources_behind.put(topic);
        }
        let resources: Vec<_> = from.into_iter().map(|(resource, _)| resource).collect();
        ended.extend(self.in_time(self.deadline(), self.0.store.threads_with_ended_leases(&resources)).await?);
        Ok(())
    }

    /// Makes the end of leases a change, as every reader of these lists would; one round after the other.
    fn expire(&self, keys: Vec<ThreadKey>) {
        if keys.is_empty() || self.0.feed.is_expiring.swap(true, Ordering::AcqRel) {
            return;
        }
        let lists = self.clone();
        tokio::spawn(async move {
            for key in keys {
                if let Err(error) = lists.load_current(&key).await {
                    tracing::warn!(%error, "leases that have ended could not be taken back");
                }
            }
            lists.0.feed.is_expiring.store(false, Ordering::Release);
        });
    }
}
