//! Runs that the memory store forgets.

use super::*;

async fn end(store: &Memory, run_id: &str, events: u32) {
    let body: Arc<dyn Encode> = Arc::new(Vec::new());
    let seq = store.get(run_id).await.unwrap().map_or(0, |row| row.seq);
    store.put(head(run_id), SUCCEEDED, record(seq, events, body)).await.unwrap();
}

async fn kept(store: &Memory) -> Vec<Arc<str>> {
    let mut rows = store.list(Filter::default(), 99).await.unwrap();
    rows.reverse();
    rows.into_iter().map(|row| row.head.run_id.clone()).collect()
}

#[tokio::test]
async fn the_runs_closed_first_are_forgotten_first() {
    let store = Memory::new(10);
    append(&store, "open", 0, b"").await.unwrap();
    for run_id in ["a", "b", "c"] {
        end(&store, run_id, 4).await;
    }
    assert_eq!(kept(&store).await, ["open", "b", "c"].map(Arc::from));
    assert!(matches!(store.load("a").await, Err(StoreError::NotFound { .. })));
    assert_eq!(store.load("b").await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_run_closed_last_stays_however_large() {
    let store = Memory::new(10);
    end(&store, "a", 4).await;
    end(&store, "b", 1000).await;
    assert_eq!(kept(&store).await, [Arc::from("b")]);
}

#[tokio::test]
async fn a_closed_run_that_is_written_to_counts_once_and_as_closed_last() {
    let store = Memory::new(10);
    end(&store, "a", 4).await;
    end(&store, "b", 4).await;
    end(&store, "a", 1).await;
    assert_eq!(kept(&store).await, ["a", "b"].map(Arc::from));
    end(&store, "c", 2).await;
    assert_eq!(kept(&store).await, ["a", "c"].map(Arc::from));
}

#[tokio::test]
async fn an_open_run_is_never_forgotten() {
    let store = Memory::new(0);
    for seq in 0..50 {
        append(&store, "open", seq, b"").await.unwrap();
        end(&store, &format!("closed {seq}"), 1).await;
    }
    assert_eq!(kept(&store).await, ["open", "closed 49"].map(Arc::from));
    assert_eq!(seqs(&store, "open").await.len(), 50);
}
