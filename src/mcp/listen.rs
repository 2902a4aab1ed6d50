//! Telling clients that a thread's task list has changed.

use rmcp::model::{ErrorData, SubscriptionFilter};
use rmcp::service::{SubscriptionContext, SubscriptionSink};
use tokio::task::JoinSet;

use super::incoming::Incoming;
use super::{resource, unanswered};
use crate::domain::ThreadKey;
use crate::service::{Caller, Error, Lists, Next};
use crate::tool_call;

/// The most task lists that one stream tells of.
const LISTS_MAX: usize = 64;

/// Returns what a client can be told of: changes of task lists.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let uris: Vec<&String> = uris.filter(|uri| resource::thread(uri).is_some()).take(LISTS_MAX).collect();
    if uris.is_empty() {
        return SubscriptionFilter::new();
    }
    SubscriptionFilter::builder().resource_subscriptions(uris).build()
}

/// Tells a client of changes until it goes away or the service stops.
pub(super) async fn listen(lists: &Lists, context: &SubscriptionContext) -> Result<(), ErrorData> {
    let incoming = Incoming::of(context.request_context())?;
    let caller = incoming.caller().map_err(|fault| ErrorData::invalid_request(fault.to_string(), None))?;
    let mut streams = JoinSet::new();
    for uri in context.accepted().resource_subscriptions.iter().flatten() {
        let thread = resource::thread(uri).filter(|thread| incoming.thread().is_none_or(|bound| bound == thread));
        let key = caller.thread(thread.ok_or_else(|| resource::unknown(uri))?);
        streams.spawn(tell(lists.clone(), caller.clone(), key, uri.clone(), context.sink().clone()));
    }
    // A client that asks for nothing that there is keeps an empty stream, as the protocol wants it.
    if streams.is_empty() {
        context.cancelled().await;
    }
    // When the service stops, all streams end.
    while let Some(ended) = streams.join_next().await {
        if let Ok(Err(error)) = ended {
            let error = tool_call::Error::Service(error);
            unanswered::log(&error);
            return Err(ErrorData::internal_error(unanswered::sentence(&error).0, None));
        }
    }
    Ok(())
}

/// Tells of each change of one list, until the service stops or nobody listens any more.
async fn tell(lists: Lists, caller: Caller, key: ThreadKey, uri: String, sink: SubscriptionSink) -> Result<(), Error> {
    loop {
        // The first word says that the list may have changed before anybody looked.
        let mut following = lists.follow(&caller, &key, None).await?;
        loop {
            match following.next().await? {
                Next::Snapshot(_) | Next::Change(_) | Next::Reset(_) => {
                    if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                        return Ok(());
                    }
                }
                Next::TooSlow => break,
                Next::Stopping => return Ok(()),
            }
        }
    }
}
