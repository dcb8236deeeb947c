"""callground: ground every call in Python code against what really exists."""

__version__ = "0.1.0"
