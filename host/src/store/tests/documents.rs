//! Documents are stored once, and no longer than their runs.

use super::{
    super::{Component, Document},
    *,
};

fn component(name: &str, bytes: &[u8]) -> Component {
    Component { digest: format!("sha256:{name}").into(), bytes: bytes.into() }
}

fn document(name: &str, components: &[Component]) -> Arc<Document> {
    let (digest, bytes) = (format!("sha256:{name}").into(), format!("says {name}").into_bytes().into());
    Arc::new(Document { digest, bytes, components: components.to_vec() })
}

async fn submit(store: &dyn Store, run_id: &str, document: &Arc<Document>) {
    let body: Arc<dyn Encode> = Arc::new(b"first".to_vec());
    let first = Record { document: Some(Arc::clone(document)), ..record(0, 1, body) };
    store.put(head(run_id), RUNNING, first).await.unwrap();
}

async fn delete(store: &dyn Store, run_id: &str) {
    let seq = store.get(run_id).await.unwrap().unwrap().seq;
    store.put(head(run_id), SUCCEEDED, record(seq, 1, Arc::new(Vec::new()))).await.unwrap();
    assert!(store.delete(run_id).await.unwrap());
}

async fn kept(store: &dyn Store, digest: &str) -> Option<Vec<u8>> {
    store.component(digest).await.unwrap().map(|bytes| bytes.to_vec())
}

/// R-I9, R-H15: a document comes with the first record, without its components, which come by their digests.
#[tokio::test]
async fn a_document_comes_back_with_the_first_record() {
    on_each(async |store| {
        let given = document("a", &[component("1", b"one"), component("2", b"two")]);
        submit(store, "r", &given).await;
        append(store, "r", 1, b"second").await.unwrap();
        append(store, "bare", 0, b"").await.unwrap();

        let loaded = store.load("r").await.unwrap();
        let without = Document { components: Vec::new(), ..(*given).clone() };
        assert_eq!(loaded[0].document.as_deref(), Some(&without));
        assert_eq!(loaded[1].document, None);
        assert_eq!(store.load_since("r", 1).await.unwrap()[0].document, None);
        assert_eq!(store.load("bare").await.unwrap()[0].document, None);
        assert_eq!(kept(store, "sha256:1").await.as_deref(), Some(b"one".as_slice()));
        assert_eq!(kept(store, "sha256:3").await, None);
    })
    .await;
}

/// The first of equal digests stays; a refused submission leaves nothing.
#[tokio::test]
async fn what_is_kept_stays_as_it_is() {
    on_each(async |store| {
        submit(store, "r", &document("a", &[component("1", b"one")])).await;
        let again = Document {
            bytes: b"other".as_slice().into(),
            ..(*document("a", &[component("3", b"three")])).clone()
        };
        submit(store, "s", &Arc::new(again)).await;
        assert_eq!(store.load("s").await.unwrap()[0].document, store.load("r").await.unwrap()[0].document);
        assert_eq!(kept(store, "sha256:3").await, None, "the document is there, and what it needs");

        submit(store, "t", &document("b", &[component("1", b"another")])).await;
        assert_eq!(kept(store, "sha256:1").await.as_deref(), Some(b"one".as_slice()));

        let body: Arc<dyn Encode> = Arc::new(Vec::new());
        let late = Record { document: Some(document("c", &[component("4", b"four")])), ..record(0, 1, body) };
        assert_eq!(conflict(store.put(head("r"), RUNNING, late).await), (0, 1));
        assert_eq!(kept(store, "sha256:4").await, None);
    })
    .await;
}

/// R-H15: a document is deleted with the last of its runs.
#[tokio::test]
async fn what_nobody_speaks_of_is_deleted() {
    on_each(async |store| {
        let [one, two] = [component("1", b"one"), component("2", b"two")];
        let (a, b) = (document("a", &[one.clone(), two]), document("b", &[one]));
        for (run, document) in [("a1", &a), ("a2", &a), ("b1", &b)] {
            submit(store, run, document).await;
        }
        delete(store, "a1").await;
        assert_eq!(store.load("a2").await.unwrap()[0].document.as_ref().unwrap().bytes, a.bytes);
        assert!(kept(store, "sha256:2").await.is_some());
        delete(store, "a2").await;
        assert_eq!(kept(store, "sha256:2").await, None);
        assert!(kept(store, "sha256:1").await.is_some(), "the other document needs it");
        submit(store, "a3", &document("a", &[component("2", b"anew")])).await;
        assert_eq!(kept(store, "sha256:2").await.as_deref(), Some(b"anew".as_slice()));
        delete(store, "b1").await;
        delete(store, "a3").await;
        assert_eq!(kept(store, "sha256:1").await, None);
    })
    .await;
}

/// Many runs of one document take its place once.
#[tokio::test]
async fn a_file_grows_by_a_document_once() {
    let (_dir, store) = in_file();
    let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let large = Arc::new(Document { bytes: bytes.into(), ..(*document("large", &[])).clone() });
    for run in 0..50 {
        submit(&store, &run.to_string(), &large).await;
    }
    let path = store.path();
    drop(store);
    let size = std::fs::metadata(path).unwrap().len();
    assert!((800_000..1_200_000).contains(&size), "{size}");
}
