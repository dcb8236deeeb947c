"""The bundled caller: from a request to one grounded call, or to nothing."""
