//! Answers requests on loopback until it is stopped.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use tidegate_core::text::lang::Lang;
use tidegate_state::clock;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};

use super::document;
use super::guard::{self, Guard};
use super::site::{Site, preferred_lang};
use super::view::{self, Asked, Seen};
use crate::bilingual::{Bilingual, both};
use crate::error::{CliError, io_words};
use crate::language;
use crate::recent::last_readings::LastReadings;
use crate::recent::{Recent, SmallCurves, journal_size, read_small_curves};
use crate::sessions::Here;

/// How often the server looks for news while a page is open, however many there are. A look is one question to the file system.
const LOOK: Duration = Duration::from_millis(500);

/// A browser on this machine sends the head of a request at once.
const HEAD: Duration = Duration::from_secs(5);

/// Connections at once: a browser opens six.
const CONNECTIONS: usize = 128;

/// Pages of different browsers that wait for news at once. The other connections stay free for pages.
const STREAMS: usize = 63;

/// For a reader that asks for one too many, in both languages: it is seen only in a browser's tools.
const TOO_MANY: &str = "\
Too many pages wait for news from this `tidegate serve`. Close some of them, and load the page again.

この `tidegate serve` から更新を待っているページが多すぎます。いくつか閉じてから、ページを読み込み直してください。
";

/// Shared by all requests.
struct Serving {
    guard: Guard,
    here: Here,
    /// Locked for as long as it takes to read what is new, never while a page is made.
    recent: Mutex<Recent>,
    /// Read while the first pages are already answered.
    small_curves: OnceLock<SmallCurves>,
    readings: LastReadings,
    /// The size of the journal at the last look.
    news: watch::Sender<u64>,
    /// A page began to wait for news.
    is_awaited: Notify,
    streams: Arc<Semaphore>,
    /// Where a browser does not say which it wants.
    lang: Lang,
}

/// Bound, and not answering yet.
pub(crate) struct Server {
    listener: TcpListener,
    serving: Arc<Serving>,
}

#[derive(Debug, Default, Deserialize)]
struct PageQuery {
    lang: Option<String>,
    #[serde(flatten)]
    asked: Asked,
}

impl Server {
    /// `0` takes any free port.
    pub(crate) async fn bind(port: u16) -> Result<Server, CliError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await.map_err(|error| cannot_listen(port, &error))?;
        let port = listener.local_addr().map_err(CliError::from)?.port();
        let here = Here::find()?;
        let recent = Recent::read(&here.state.journal(), here.now).map_err(CliError::from)?;
        let token = guard::new_token().map_err(CliError::new)?;
        let guard = Guard { token, port };
        let (recent, small_curves, readings) = (Mutex::new(recent), OnceLock::new(), LastReadings::default());
        let (news, is_awaited) = (watch::Sender::new(0), Notify::new());
        let streams = Arc::new(Semaphore::new(STREAMS));
        let lang = language::current();
        let serving =
            Serving { guard, here, recent, small_curves, readings, news, is_awaited, streams, lang };
        Ok(Server { listener, serving: Arc::new(serving) })
    }

    pub(crate) fn url(&self) -> String {
        let Guard { token, port } = &self.serving.guard;
        format!("http://127.0.0.1:{port}/{token}/")
    }

    /// Until Ctrl-C.
    pub(crate) async fn run(self) -> Result<(), CliError> {
        let Server { listener, serving } = self;
        let routes = Router::new()
            .route("/{token}", get(show_sessions))
            .route("/{token}/", get(show_sessions))
            .route("/{token}/live", get(live))
            .route("/{token}/{page}", get(show_page))
            .route("/{token}/{page}/{id}", get(show_one))
            .layer(middleware::from_fn_with_state(Arc::clone(&serving), check))
            .with_state(Arc::clone(&serving));
        let reading = Arc::clone(&serving);
        // Its end is not awaited: without it only the small curves of old sessions are missing.
        std::thread::spawn(move || {
            let curves = read_small_curves(&reading.here.state.journal()).unwrap_or_default();
            let _ = reading.small_curves.set(curves);
        });
        let stopped = async {
            let _ = tokio::signal::ctrl_c().await;
        };
        // Pages that wait for news would keep a graceful end waiting.
        tokio::select! {
            () = answer_connections(listener, routes) => {}
            () = look_for_news(&serving) => {}
            () = stopped => {}
        }
        Ok(())
    }
}

/// A connection that sends no request, or one without an end, keeps its place only for a while.
async fn answer_connections(listener: TcpListener, routes: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // The other side went away, or there is no room for another open file.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let routes = TowerToHyperService::new(routes.clone());
        tokio::spawn(async move {
            let _place = place;
            let mut http = http1::Builder::new();
            // A reader that goes away is no error.
            let _ = http
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), routes)
                .await;
        });
    }
}

fn cannot_listen(port: u16, error: &std::io::Error) -> CliError {
    let in_use = error.kind() == std::io::ErrorKind::AddrInUse;
    CliError::new(if in_use {
        both!("port {port} is in use", "ポート{port}は使用中です")
    } else {
        let Bilingual { en, ja } = io_words(error);
        both!("cannot listen on port {port}: {en}", "ポート{port}で待ち受けできません: {ja}")
    })
    .hint(both!("leave --port out to take any free port", "--port を省くと空いているポートを使います"))
}

async fn check(State(serving): State<Arc<Serving>>, request: Request, next: Next) -> Response {
    let refused = serving.guard.refuse(request.method(), request.uri(), request.headers());
    let mut response = match refused {
        // Its connection keeps no place that a reader with the token needs.
        Some(code) => (code, [(header::CONNECTION, "close")], guard::REFUSED).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in guard::HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

async fn show_sessions(
    State(serving): State<Arc<Serving>>,
    Query(query): Query<PageQuery>,
    headers: HeaderMap,
) -> Response {
    answer(serving, query, &headers, String::new(), String::new()).await
}

async fn show_page(
    State(serving): State<Arc<Serving>>,
    Path((_, page)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
    headers: HeaderMap,
) -> Response {
    if let Some((kind, text)) = document::file(&page) {
        return ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response();
    }
    answer(serving, query, &headers, page, String::new()).await
}

async fn show_one(
    State(serving): State<Arc<Serving>>,
    Path((_, page, id)): Path<(String, String, String)>,
    Query(query): Query<PageQuery>,
    headers: HeaderMap,
) -> Response {
    answer(serving, query, &headers, page, id).await
}

/// Reads files and the store, so it runs where waiting does no harm.
async fn answer(
    serving: Arc<Serving>,
    query: PageQuery,
    headers: &HeaderMap,
    page: String,
    id: String,
) -> Response {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let chosen = match query.lang.as_deref() {
        Some("ja") => Some(Lang::Ja),
        Some("en") => Some(Lang::En),
        _ => None,
    };
    let lang = chosen.unwrap_or_else(|| preferred_lang(accepted, serving.lang));
    let site = Site {
        token: serving.guard.token.clone(),
        lang,
        is_chosen: chosen.is_some(),
        // Before the page is made: what is recorded from here on is news to it.
        known: journal_size(&serving.here.state.journal(), clock::now()),
    };
    let work = move || {
        let recent = {
            let mut recent = serving.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.refresh(clock::now());
            recent.sessions.clone()
        };
        let seen = Seen { recent, small_curves: serving.small_curves.get(), readings: &serving.readings };
        match view::show(&site, serving.here.again(), seen, &page, &id, &query.asked) {
            Ok(page) => (StatusCode::OK, page),
            Err(error) => (error.status(), view::show_error(&site, &error)),
        }
    };
    match tokio::task::spawn_blocking(work).await {
        Ok((code, page)) => (code, Html(page.into_string())).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Nothing is looked at while no page waits.
async fn look_for_news(serving: &Serving) {
    let folder = serving.here.state.journal();
    loop {
        if serving.news.receiver_count() == 0 {
            serving.is_awaited.notified().await;
        }
        let size = journal_size(&folder, clock::now());
        serving.news.send_if_modified(|known| std::mem::replace(known, size) != size);
        tokio::time::sleep(LOOK).await;
    }
}

/// One event at the beginning, and one for each time that something was recorded.
async fn live(State(serving): State<Arc<Serving>>) -> Response {
    let Ok(place) = Arc::clone(&serving.streams).try_acquire_owned() else {
        let code = StatusCode::SERVICE_UNAVAILABLE;
        return (code, [(header::CONNECTION, "close")], TOO_MANY).into_response();
    };
    // Before the first look: what is recorded from here on is news.
    let news = serving.news.subscribe();
    serving.is_awaited.notify_one();
    let first = journal_size(&serving.here.state.journal(), clock::now());
    // It has its place until its reader goes away.
    let news = stream::unfold((news, first, None, place), async |(mut news, first, known, place)| {
        let size = match known {
            None => first,
            Some(known) => loop {
                news.changed().await.ok()?;
                let size = *news.borrow_and_update();
                if size != known {
                    break size;
                }
            },
        };
        let event: Result<Event, Infallible> = Ok(Event::default().event("news").data(size.to_string()));
        Some((event, (news, first, Some(size), place)))
    });
    Sse::new(Box::pin(news)).keep_alive(KeepAlive::default()).into_response()
}
