"""The CodeGraph: immutable snapshots of workspace, environment and open files."""
