"""Files of real size with made-up content, for benchmarks that need more data than the repository can hold."""
