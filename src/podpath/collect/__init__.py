"""The world to evidence: files, bundles and live nodes read, never changed."""
