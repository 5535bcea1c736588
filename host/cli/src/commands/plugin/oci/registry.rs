//! A registry, asked by HTTP.

use phasm::{
    engine::text::brief,
    sandbox::{Digest, HttpAnswer, HttpClient, HttpConfig, HttpRequest},
};
use serde::Deserialize;

use super::{
    artifact::MANIFEST,
    challenge::{Challenge, encoded},
    reference::Reference,
};

/// Maximum length of a registry's other responses.
const MAX_RESPONSE_BYTES: u64 = 64 << 10;
/// Blobs lie elsewhere, and from there nowhere else.
const MAX_REDIRECTS: usize = 3;

pub(super) struct Registry {
    client: HttpClient,
    /// `https://HOST`.
    origin: String,
    repository: String,
    writes: bool,
    /// Credentials of the user.
    credentials: Option<String>,
    /// Challenge of the registry.
    authorization: Option<String>,
}

impl Registry {
    pub(super) fn new(
        reference: &Reference,
        plain_http: bool,
        http: &HttpConfig,
        credentials: Option<String>,
        writes: bool,
    ) -> Self {
        let scheme = if plain_http { "http" } else { "https" };
        // The usual name of the registry is not its address.
        let host = if reference.host == "docker.io" { "registry-1.docker.io" } else { &reference.host };
        Self {
            client: HttpClient::new(http.clone()),
            origin: format!("{scheme}://{host}"),
            repository: reference.repository.clone(),
            writes,
            credentials,
            authorization: None,
        }
    }

    pub(super) async fn manifest(&mut self, name: String, most: u64) -> Result<Vec<u8>, String> {
        let url = self.url(&format!("manifests/{name}"));
        let accept = vec![("accept", MANIFEST.to_owned())];
        let answer = self.follow(self.request("GET", url, accept, most)).await?;
        match answer.status {
            200 => Ok(answer.body),
            404 => Err(format!("the registry has no {name} of it: {}", said(&answer))),
            _ => Err(said(&answer)),
        }
    }

    /// Bytes of exactly that size.
    pub(super) async fn blob(&mut self, digest: &str, size: u64) -> Result<Vec<u8>, String> {
        let url = self.url(&format!("blobs/{digest}"));
        let answer = self.follow(self.request("GET", url, Vec::new(), size.max(MAX_RESPONSE_BYTES))).await?;
        match answer.status {
            200 if answer.body.len() as u64 == size => Ok(answer.body),
            200 => Err(format!("the registry sent {} bytes, and not {size}", answer.body.len())),
            _ => Err(said(&answer)),
        }
    }

    /// Puts bytes there, unless they are.
    pub(super) async fn upload(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let digest = Digest::of(&bytes).to_string();
        let known = self.url(&format!("blobs/{digest}"));
        if self.ask(self.request("HEAD", known, Vec::new(), MAX_RESPONSE_BYTES)).await?.status == 200 {
            return Ok(());
        }
        let begin = self.url("blobs/uploads/");
        let begun = self.ask(self.request("POST", begin, Vec::new(), MAX_RESPONSE_BYTES)).await?;
        let place = begun.header("location").filter(|_| begun.status == 202).ok_or_else(|| said(&begun))?;
        let place = self.within(place)?;
        let join = if place.contains('?') { '&' } else { '?' };
        let url = format!("{place}{join}digest={}", encoded(&digest));
        let headers = vec![("content-type", "application/octet-stream".to_owned())];
        let put = HttpRequest { body: bytes, ..self.request("PUT", url, headers, MAX_RESPONSE_BYTES) };
        self.created(put).await
    }

    pub(super) async fn put_manifest(&mut self, name: String, text: Vec<u8>) -> Result<(), String> {
        let headers = vec![("content-type", MANIFEST.to_owned())];
        let url = self.url(&format!("manifests/{name}"));
        let put = HttpRequest { body: text, ..self.request("PUT", url, headers, MAX_RESPONSE_BYTES) };
        self.created(put).await
    }

    async fn created(&mut self, request: HttpRequest) -> Result<(), String> {
        let answer = self.ask(request).await?;
        if answer.status == 201 { Ok(()) } else { Err(said(&answer)) }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/v2/{}/{path}", self.origin, self.repository)
    }

    fn request(
        &self,
        method: &'static str,
        url: String,
        headers: Vec<(&'static str, String)>,
        most: u64,
    ) -> HttpRequest {
        let inside = self.is_own(&url);
        HttpRequest { method, url, headers, body: Vec::new(), most, inside }
    }

    /// Whether the address is the registry itself, whose name the user typed.
    fn is_own(&self, url: &str) -> bool {
        url.strip_prefix(&self.origin).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    /// Where an upload goes on: here, whatever the registry says.
    fn within(&self, place: &str) -> Result<String, String> {
        let url = if place.starts_with('/') { format!("{}{place}", self.origin) } else { place.to_owned() };
        if self.is_own(&url) {
            Ok(url)
        } else {
            Err("the registry redirects uploads to another server; that is not supported".to_owned())
        }
    }

    /// Sends a request, and follows redirects. Credentials are sent to the registry only.
    async fn follow(&mut self, request: HttpRequest) -> Result<HttpAnswer, String> {
        let mut answer = self.ask(request.clone()).await?;
        for _ in 0..MAX_REDIRECTS {
            if ![301, 302, 303, 307, 308].contains(&answer.status) {
                return Ok(answer);
            }
            let place = answer.header("location").unwrap_or_default();
            let url =
                if place.starts_with('/') { format!("{}{place}", self.origin) } else { place.to_owned() };
            let next = HttpRequest { inside: self.is_own(&url), url, ..request.clone() };
            answer = match next.inside {
                true => self.ask(next).await?,
                false if next.url.starts_with("https://") => self.client.send(next).await?,
                false => {
                    return Err(format!(
                        "the registry redirects to {:?}, which is not encrypted",
                        brief(&next.url)
                    ));
                }
            };
        }
        Err(format!("the registry redirects more than {MAX_REDIRECTS} times"))
    }

    /// Asks the registry itself, as who one is.
    async fn ask(&mut self, request: HttpRequest) -> Result<HttpAnswer, String> {
        let answer = self.client.send(self.signed(request.clone())).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        let challenge = answer.header("www-authenticate").and_then(Challenge::read);
        self.authorization = Some(match challenge {
            Some(Challenge::Basic) => self.credentials.clone().ok_or_else(|| self.no_credentials())?,
            Some(Challenge::Bearer { realm, service, scope }) => self.token(&realm, service, scope).await?,
            None => return Err(said(&answer)),
        });
        let answer = self.client.send(self.signed(request)).await?;
        if answer.status == 401 {
            Err(format!("{}; {}", said(&answer), self.no_credentials()))
        } else {
            Ok(answer)
        }
    }

    fn no_credentials(&self) -> String {
        let host = self.origin.split("://").last().unwrap_or_default();
        format!(
            "the name or the password is wrong: `docker login {host}` leaves them in docker's config.json"
        )
    }

    fn signed(&self, mut request: HttpRequest) -> HttpRequest {
        let authorization = self.authorization.iter().map(|value| ("authorization", value.clone()));
        request.headers.extend(authorization);
        request
    }

    async fn token(
        &self,
        realm: &str,
        service: Option<String>,
        scope: Option<String>,
    ) -> Result<String, String> {
        if !realm.starts_with("https://") && !self.is_own(realm) {
            return Err(format!(
                "the registry requires a token from {:?}, which is not encrypted",
                brief(realm)
            ));
        }
        let rights = if self.writes { "pull,push" } else { "pull" };
        let scope = scope.unwrap_or_else(|| format!("repository:{}:{rights}", self.repository));
        let service = service.map(|service| format!("&service={}", encoded(&service))).unwrap_or_default();
        let join = if realm.contains('?') { '&' } else { '?' };
        let url = format!("{realm}{join}scope={}{service}", encoded(&scope));
        let headers = self.credentials.iter().map(|value| ("authorization", value.clone())).collect();
        let answer = self.client.send(self.request("GET", url, headers, MAX_RESPONSE_BYTES)).await?;
        if answer.status != 200 {
            return Err(format!("no token: {}; {}", said(&answer), self.no_credentials()));
        }
        let token: Option<Token> = serde_json::from_slice(&answer.body).ok();
        let token = token.and_then(|token| token.token.or(token.access_token));
        let token = token.filter(|token| token.bytes().all(|b| b.is_ascii_graphic()));
        token.map(|token| format!("Bearer {token}")).ok_or_else(|| "no token in the response".to_owned())
    }
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct Errors {
    errors: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// An answer that is none, in the registry's words.
fn said(answer: &HttpAnswer) -> String {
    let errors: Option<Errors> = serde_json::from_slice(&answer.body).ok();
    let first = errors.and_then(|errors| errors.errors.into_iter().next());
    let words = first.map(|fault| format!(": {} {}", fault.code, fault.message)).unwrap_or_default();
    brief(&format!("the registry responded {}{words}", answer.status)).into_owned()
}
