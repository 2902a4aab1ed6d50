//! A batch of commits as the columns that the statement takes, in the order of its parameters.

use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use super::prepared::{Prepared, Upsert, WrittenChange};
use crate::domain::{ActiveForm, Owner, Revision, Task, TaskId, Version};
use crate::store::rows::{count, micros, minute};
use crate::store::{AnswerKey, KeptAnswer};

type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Binds everything that the commits hold.
pub(super) fn bound<'q>(statement: Statement<'q>, commits: &[Prepared]) -> Statement<'q> {
    let statement = bind_threads(statement, commits);
    let statement = bind_removals(statement, &numbered(commits, |commit| &commit.removals));
    let statement = bind_upserts(statement, &numbered(commits, |commit| &commit.upserts));
    let statement = bind_changes(statement, &numbered(commits, |commit| &commit.changes));
    bind_answers(statement, &numbered(commits, |commit| &commit.answers))
}

/// Numbers parts by their commit, from 1 as the statement does.
fn numbered<'a, T, I>(commits: &'a [Prepared], parts: impl Fn(&'a Prepared) -> I) -> Vec<(i64, T)>
where
    I: IntoIterator<Item = T>,
{
    (1..).zip(commits).flat_map(|(n, commit)| parts(commit).into_iter().map(move |part| (n, part))).collect()
}

fn column<'a, T, V>(rows: &'a [T], value: impl Fn(&'a T) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

fn bind_threads<'q>(statement: Statement<'q>, commits: &[Prepared]) -> Statement<'q> {
    statement
        .bind(column(commits, |commit| commit.key.resource.as_str()))
        .bind(column(commits, |commit| commit.key.thread.as_str()))
        .bind(column(commits, |commit| commit.expected.map(Version::get)))
        .bind(column(commits, |commit| commit.version.get()))
        .bind(column(commits, |commit| commit.revision.get()))
        .bind(column(commits, |commit| commit.change_id.get()))
        .bind(column(commits, |commit| commit.deleted_at_revision.map(Revision::get)))
        .bind(column(commits, |commit| commit.next_number))
        .bind(column(commits, |commit| commit.lease_counter))
        .bind(column(commits, |commit| commit.lease_expires_at))
        .bind(column(commits, |commit| count(commit.counts.total)))
        .bind(column(commits, |commit| count(commit.counts.completed)))
        .bind(column(commits, |commit| count(commit.counts.in_progress)))
        .bind(column(commits, |commit| !commit.changes.is_empty()))
        .bind(column(commits, |commit| commit.forgets_changes))
        .bind(column(commits, |commit| commit.at))
        .bind(column(commits, |commit| minute(commit.at)))
}

fn bind_removals<'q>(statement: Statement<'q>, removals: &[(i64, &TaskId)]) -> Statement<'q> {
    statement.bind(column(removals, |(n, _)| *n)).bind(column(removals, |(_, id)| id.as_str()))
}

fn bind_upserts<'q>(statement: Statement<'q>, upserts: &[(i64, &Upsert)]) -> Statement<'q> {
    let tasks: Vec<&Task> = column(upserts, |(_, upsert)| &*upsert.task);
    statement
        .bind(column(upserts, |(n, _)| *n))
        .bind(column(&tasks, |task| task.id.as_str()))
        .bind(column(&tasks, |task| task.position))
        .bind(column(&tasks, |task| task.content.as_str()))
        .bind(column(&tasks, |task| task.status.as_str()))
        .bind(column(&tasks, |task| task.active_form.as_ref().map(ActiveForm::as_str)))
        .bind(column(&tasks, |task| task.description.as_str()))
        .bind(column(&tasks, |task| task.owner.as_ref().map(Owner::as_str)))
        .bind(column(upserts, |(_, upsert)| upsert.metadata.as_ref()))
        .bind(column(upserts, |(_, upsert)| upsert.blockers.as_ref()))
        .bind(column(&tasks, |task| task.lease.as_ref().map(|lease| lease.token.as_ref())))
        .bind(column(&tasks, |task| task.lease.as_ref().map(|lease| micros(lease.expires_at))))
        .bind(column(&tasks, |task| micros(task.created_at)))
        .bind(column(&tasks, |task| micros(task.updated_at)))
        .bind(column(&tasks, |task| task.completed_at.map(micros)))
        .bind(column(&tasks, |task| task.revision.get()))
        .bind(column(&tasks, |task| task.change_id.get()))
}

fn bind_changes<'q>(statement: Statement<'q>, changes: &[(i64, &WrittenChange)]) -> Statement<'q> {
    statement
        .bind(column(changes, |(n, _)| *n))
        .bind(column(changes, |(_, change)| change.revision.get()))
        .bind(column(changes, |(_, change)| change.change_id.get()))
        .bind(column(changes, |(_, change)| change.operation.as_ref()))
        .bind(column(changes, |(_, change)| change.actor.as_str()))
        .bind(column(changes, |(_, change)| change.at))
        .bind(column(changes, |(_, change)| change.ops.as_str()))
}

fn bind_answers<'q>(statement: Statement<'q>, answers: &[(i64, &(AnswerKey, KeptAnswer))]) -> Statement<'q> {
    statement
        .bind(column(answers, |(n, _)| *n))
        .bind(column(answers, |(_, (key, _))| key.actor.as_str()))
        .bind(column(answers, |(_, (key, _))| key.operation.as_str()))
        .bind(column(answers, |(_, (key, _))| key.key.as_str()))
        .bind(column(answers, |(_, (_, kept))| kept.fingerprint.as_str()))
        .bind(column(answers, |(_, (_, kept))| kept.answer.as_str()))
}
