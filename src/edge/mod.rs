//! What every edge reads from a request before anything else. It lies below the edges and knows none of them.

mod caller;
mod condition;
pub mod etag;
mod patience;
mod repeat;

pub use caller::{CallerFault, HeaderFault, decoded, is_percent_encoded, read_caller};
pub use condition::{OnlyForReads, is_among, precondition};
pub use patience::Patience;
pub use repeat::{IDEMPOTENCY_KEY, KeyFault, parse_key, repeat};
