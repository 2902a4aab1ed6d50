//! What users of such systems report, each as a promise that it cannot happen here.

mod arguments;
mod claims;
mod completions;
mod creations;
mod dependencies;
mod growth;
mod hangups;
mod isolation;
mod outage;
mod retries;
mod texts;
mod versions;
