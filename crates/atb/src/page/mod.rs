//! The report as one HTML document that stands alone: no script, no network, nothing but inline style and drawings.
//!
//! It only renders; who writes the file is another module. All text from the ledger is cleaned, bounded and escaped. The same
//! ledger gives the same bytes: there is no clock here.

mod article;
mod axis;
mod evidence;
mod mark;
mod path;
mod runs;
mod setting;
mod strip;
mod table;
#[cfg(test)]
mod tests;

use askama::Template;

use crate::report::CampaignReport;
use article::Article;
use mark::Mark;

/// Bytes that the articles of a page may fill; campaigns beyond are listed, not shown in full.
const BUDGET: usize = 260_000;
/// Campaigns that the list at the top names at most.
const LISTED: usize = 100;

/// A page.
#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    contents: Vec<Content>,
    not_listed: usize,
    articles: Vec<String>,
    version: &'static str,
}

/// A campaign in the list at the top.
struct Content {
    /// Id of its article; none if it is not shown in full.
    id: Option<String>,
    task: String,
    mark: Mark,
    ratio: String,
    interval: String,
    baseline: &'static str,
}

/// A campaign in full.
#[derive(Template)]
#[template(path = "campaign.html")]
struct CampaignTemplate {
    a: Article,
}

/// Renders a campaign, followed by others of the same ledger. At most 300 KB: campaigns that no longer fit are only listed.
pub fn render(report: &CampaignReport, also: &[CampaignReport]) -> Result<String, askama::Error> {
    let mut articles = Vec::new();
    let mut contents = Vec::new();
    let mut bytes = 0;
    for (at, report) in std::iter::once(report).chain(also).enumerate() {
        let id = format!("c{}", at + 1);
        let a = Article::of(report, id.clone());
        let mut content = Content {
            id: None,
            task: a.task.clone(),
            mark: a.verdict.mark.clone(),
            ratio: if a.verdict.has_ratio { format!("{}\u{d7}", a.verdict.ratio) } else { "no ratio".to_owned() },
            interval: if a.verdict.has_ratio { format!("[{}, {}]", a.verdict.lo, a.verdict.hi) } else { String::new() },
            baseline: a.verdict.baseline,
        };
        let html = CampaignTemplate { a }.render()?;
        if at == 0 || bytes + html.len() <= BUDGET {
            bytes += html.len();
            articles.push(html);
            content.id = Some(id);
        }
        contents.push(content);
    }
    let not_listed = contents.len().saturating_sub(LISTED);
    contents.truncate(LISTED);
    let title = contents.first().map_or_else(String::new, |first| format!("{}: {}", first.task, first.mark.word));
    Page { title, contents, not_listed, articles, version: env!("CARGO_PKG_VERSION") }.render()
}

/// A wall time in milliseconds since 1970 as text, UTC.
fn time(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .map_or_else(|_| "at an unknown time".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
