use std::os::unix::fs::PermissionsExt;

use tollway_testkit::Folder;

use super::*;

#[test]
fn what_could_not_be_noted_is_given_back_without_an_error() {
    let folder = Folder::new("claim-unsaved");
    let claim = Claim::new(&["not-there".to_owned()], "", &folder.join("no-folder"));
    claim.save("not-there", Record { mtu: 9000, ..Record::default() });
    assert_eq!(claim.unnoted(), ["not-there"]);
    claim.restore("not-there").unwrap();
    assert_eq!(claim.unnoted(), Vec::<String>::new());
}

#[test]
fn what_was_noted_is_known_though_the_folder_is_gone() {
    let folder = Folder::new("claim-gone");
    let records = folder.join("claims");
    owner_only_files::create_folder(&records).unwrap();
    let record = |mtu| Record { mtu, ..Record::default() };
    Claim::new(&[], "", &records).save("not-there", record(1400));
    let netdevs = ["not-there", "nor-this"].map(str::to_owned);
    let claim = Claim::new(&netdevs, "", &records);
    claim.save("nor-this", record(9000));
    fs::remove_dir_all(&records).unwrap();
    assert_eq!(
        netdevs.each_ref().map(|netdev| claim.record(netdev)),
        [Some(record(1400)), Some(record(9000))]
    );
    for netdev in &netdevs {
        claim.restore(netdev).unwrap();
        assert_eq!(claim.record(netdev), None);
    }
}

#[test]
fn an_older_record_goes_with_what_could_not_be_noted_in_its_place() {
    let folder = Folder::new("claim-older");
    let claim = Claim::new(&[], "", &folder);
    claim.save("not-there", Record { mtu: 1400, ..Record::default() });
    // Nothing can be written there.
    fs::create_dir_all(folder.join("not-there.new").join("full")).unwrap();
    claim.save("not-there", Record { mtu: 9000, ..Record::default() });
    assert_eq!(claim.unnoted(), ["not-there"]);
    claim.restore("not-there").unwrap();
    assert!(!folder.join("not-there").exists());
}

#[test]
fn a_record_is_for_its_owner_alone() {
    let folder = Folder::new("claim");
    // As a killed agent may have left it.
    let temporary = folder.join("eth0.new");
    fs::write(&temporary, "mtu 1").unwrap();
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o666)).unwrap();
    let claim = Claim::new(&[], "", &folder);
    for netdev in ["eth0", "eth1"] {
        let record = Record { mtu: 9000, ..Record::default() };
        claim.save(netdev, record.clone());
        assert_eq!((claim.record(netdev), claim.unnoted()), (Some(record), Vec::new()));
        let mode = fs::metadata(folder.join(netdev)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{netdev}");
    }
}
