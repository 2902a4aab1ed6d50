//! Wrappers around a store leave alone what they are not about.

/// Lets a wrapper, whose field `store` is the store within, hand on everything about the feed.
macro_rules! hands_on_the_feed {
    ($wrapper:ty) => {
        #[async_trait::async_trait]
        impl tasklane::store::ChangeFeed for $wrapper {
            async fn positions(
                &self,
                keys: &[tasklane::domain::ThreadKey],
            ) -> Result<Vec<tasklane::store::Position>, tasklane::store::StoreError> {
                self.store.positions(keys).await
            }

            async fn changes_after(
                &self,
                after: &[(tasklane::domain::ThreadKey, tasklane::domain::Revision)],
                count: u32,
            ) -> Result<Vec<Vec<tasklane::domain::Change>>, tasklane::store::StoreError> {
                self.store.changes_after(after, count).await
            }

            async fn resource_changes(
                &self,
                resource: &tasklane::domain::ResourceId,
                from: &tasklane::store::Place,
                limit: u32,
            ) -> Result<tasklane::store::Page, tasklane::store::StoreError> {
                self.store.resource_changes(resource, from, limit).await
            }

            async fn has_changes_from(
                &self,
                from: &[(tasklane::domain::ResourceId, i64)],
            ) -> Result<Vec<bool>, tasklane::store::StoreError> {
                self.store.has_changes_from(from).await
            }

            async fn threads_with_ended_leases(
                &self,
                resources: &[tasklane::domain::ResourceId],
            ) -> Result<Vec<tasklane::domain::ThreadKey>, tasklane::store::StoreError> {
                self.store.threads_with_ended_leases(resources).await
            }

            fn announces(&self) -> bool {
                self.store.announces()
            }

            async fn announce(&self, notices: &[tasklane::store::Notice]) -> Result<(), tasklane::store::StoreError> {
                self.store.announce(notices).await
            }

            async fn listen(&self) -> Result<Option<Box<dyn tasklane::store::Hearing>>, tasklane::store::StoreError> {
                self.store.listen().await
            }
        }
    };
}
