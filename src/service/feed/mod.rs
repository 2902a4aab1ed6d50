//! Who follows lists is told of each change, whichever process committed it.
//!
//! A list that somebody in this process follows has a *topic*: where the list stands, and its newest changes, once for all
//! readers. A topic moves on in three ways, and each revision goes into it once and in order, whichever was first:
//!
//! - A commit of this process hands its changes over.
//! - Another process announces what it has committed, by the database's own channel and outside of the transactions that
//!   change lists; what is missing is then fetched, for all lists that moved in one statement and for all readers at once.
//! - Where the lists stand is compared with the topics in one statement now and then ([`REPAIR_INTERVAL`]). Whatever else
//!   went wrong, this finds it. Where processes cannot tell each other, it is done more often ([`COMPARE_INTERVAL`]).
//!
//! A reader is a number in the topic, and pulls. Nothing is kept for it, so that it may be as slow as it likes, until what it
//! needs next is not kept any more: then it is sent away and comes back with the last revision that it saw.

mod cursor;
mod fan_out;
mod follow;
mod registry;
mod resource;
mod resource_topic;
mod ring;
mod topic;
mod wait;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::Lists;
use crate::domain::{Change, ResourceId, Revision, ThreadKey};
use crate::store::{Notice, resource_number, thread_number};

pub use cursor::Cursor;
pub use follow::{Following, Next};
pub use resource::{FollowingResource, NextOfResource, Overview};
pub use topic::Told;

use registry::{Queue, Registry};
use resource_topic::ResourceTopic;
use topic::Topic;

/// How often topics are compared with the store although processes tell each other: the most by which a lost word delays a
/// change, and the most by which a lease outlives its end while somebody follows its list.
pub const REPAIR_INTERVAL: Duration = Duration::from_secs(1);
/// How often topics are compared with the store where processes cannot tell each other.
pub const COMPARE_INTERVAL: Duration = Duration::from_millis(50);
/// The least time between two announcements of one process.
pub const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(20);

/// What this process follows and announces.
#[derive(Debug)]
pub(super) struct Feed {
    threads: Registry<Topic>,
    resources: Registry<ResourceTopic>,
    /// Topics that are to be brought up to date.
    behind: Arc<Queue<Topic>>,
    resources_behind: Arc<Queue<ResourceTopic>>,
    outbox: Arc<Outbox>,
    announces: bool,
    /// Whether announcements of other processes are heard at the moment.
    is_listening: AtomicBool,
    /// Rung when topics are to be compared with the store at once.
    compare: Arc<Notify>,
    is_looking: AtomicBool,
    is_announcing: AtomicBool,
    is_expiring: AtomicBool,
    /// Tells readers to end. Dropped with the feed, which ends its tasks.
    stopping: watch::Sender<bool>,
}

/// What is to be announced.
#[derive(Debug, Default)]
struct Outbox {
    notices: Mutex<HashMap<u64, Notice>>,
    bell: Notify,
}

impl Outbox {
    fn put(&self, notice: Notice) {
        // Only the newest revision of a list is worth a word.
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).insert(notice.thread, notice);
        self.bell.notify_one();
    }

    fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect()
    }
}

impl Feed {
    pub(super) fn new(announces: bool) -> Self {
        Self {
            threads: Registry::default(),
            resources: Registry::default(),
            behind: Arc::default(),
            resources_behind: Arc::default(),
            outbox: Arc::default(),
            announces,
            is_listening: AtomicBool::new(false),
            compare: Arc::default(),
            is_looking: AtomicBool::new(false),
            is_announcing: AtomicBool::new(false),
            is_expiring: AtomicBool::new(false),
            stopping: watch::Sender::new(false),
        }
    }

    /// Takes changes over that this process has committed. Costs next to nothing where nobody follows.
    pub(super) fn committed(&self, lists: &Lists, key: &ThreadKey, changes: &[Change]) {
        let Some(last) = changes.last() else { return };
        if !self.announces && self.threads.is_empty() && self.resources.is_empty() {
            return;
        }
        let notice = Notice::of(key, last.revision);
        for topic in self.threads.find(notice.thread) {
            if topic.key == *key {
                topic.publish(changes.iter().cloned());
                self.look_if_behind(&topic);
            }
        }
        for topic in self.resources.find(notice.resource) {
            self.resources_behind.put(&topic);
        }
        if self.announces {
            self.outbox.put(notice);
            if !self.is_announcing.swap(true, Ordering::AcqRel) {
                fan_out::start_announcing(lists);
            }
        }
    }

    /// Takes in what a process has announced, this one included.
    fn heard(&self, notices: &[Notice]) {
        for notice in notices {
            for topic in self.threads.find(notice.thread) {
                self.hear(&topic, notice.revision);
            }
            for topic in self.resources.find(notice.resource) {
                self.resources_behind.put(&topic);
            }
        }
    }

    /// Hears that a list has reached a revision.
    fn hear(&self, topic: &Arc<Topic>, revision: Revision) {
        topic.hear(revision);
        self.look_if_behind(topic);
    }

    fn look_if_behind(&self, topic: &Arc<Topic>) {
        if topic.is_behind() {
            self.behind.put(topic);
        }
    }

    fn watch_thread(&self, lists: &Lists, key: &ThreadKey) -> Arc<Topic> {
        let topic = self.threads.join(thread_number(key), |topic| topic.key == *key, || Topic::new(key.clone()));
        self.look(lists);
        topic
    }

    fn watch_resource(&self, lists: &Lists, resource: &ResourceId) -> Arc<ResourceTopic> {
        let make = || ResourceTopic::new(resource.clone());
        let topic = self.resources.join(resource_number(resource), |topic| topic.resource == *resource, make);
        self.look(lists);
        topic
    }

    /// Begins to look at other processes' changes, once somebody follows.
    fn look(&self, lists: &Lists) {
        if !self.is_looking.swap(true, Ordering::AcqRel) {
            fan_out::start_looking(lists);
        }
    }

    fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

impl Lists {
    /// Ends all followings and waits, now and from now on. Calls that change lists go on.
    pub fn stop_following(&self) {
        self.0.feed.stopping.send_replace(true);
    }
}
