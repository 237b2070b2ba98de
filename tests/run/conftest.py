"""Files that are no tests: they run in processes of their own, or need packages."""

collect_ignore_glob = ["fake_driver/*", "third_party/*"]
