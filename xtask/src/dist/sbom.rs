//! What the program contains, as `CycloneDX` 1.5.

use serde_json::json;

use super::Release;
use crate::{notices, supply};
use xtask::failure::Done;

pub(crate) fn make(release: &Release) -> Done<Vec<u8>> {
    let linked = notices::linked_packages()?;
    let checksums = supply::checksums()?;
    let mut packages = supply::packages()?;
    packages.retain(|package| linked.contains(&(package.name.clone(), package.version.clone())));
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    let mut components: Vec<_> = packages
        .iter()
        .map(|package| {
            let url = format!("pkg:cargo/{}@{}", package.name, package.version);
            let mut component = json!({
                "type": "library",
                "bom-ref": url,
                "name": package.name,
                "version": package.version,
                "licenses": [{"expression": package.licence}],
                "purl": url,
            });
            if let Some(sum) = checksums.get(&(package.name.clone(), package.version.clone())) {
                component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
            }
            component
        })
        .collect();
    let references: Vec<_> = packages.iter().collect();
    components.push(json!({
        "type": "library",
        "bom-ref": "sqlite",
        "name": "SQLite",
        "version": notices::sqlite_version(&references)?,
        "licenses": [{"license": {"name": "public domain"}}],
    }));
    let bom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "tidegate",
                "name": "tidegate",
                "version": release.version,
                "licenses": [{"expression": "MIT"}],
                "hashes": [{"alg": "SHA-256", "content": super::sha256(&release.program)}],
            }
        },
        "components": components,
    });
    Ok(format!("{bom:#}\n").into_bytes())
}
