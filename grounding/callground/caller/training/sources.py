"""Where the training data comes from, what stays out of it, and how it is fetched (by pip, from any index)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SERVICES = ("botocore", "awscli", "google-api-python-client", "azure-cli", "homeassistant")
"""Distributions whose service definitions and examples are read."""

PROJECTS = tuple(
    """
    accelerate aiohttp alembic altair boto click datasets docker elasticsearch fabric fastapi flask geopandas
    httpx ibis-framework invoke ipython jinja2 jira keras langchain-community langchain-core napalm nbconvert
    netmiko notion-client openai opsdroid pip poetry polars pydantic pymongo pytest redis sentry-sdk setuptools
    shapely slack-sdk spotipy starlette telethon tornado tweepy werkzeug yfinance zulip zulip-bots
    """.split()
)
"""Python projects whose docstrings and comments are read, where their licence allows it."""

TOOL_SERVERS = tuple(
    """
    agent-toolkit-mcp-server alpaca-mcp-server amazon-orders-mcp arxiv-mcp-server awslabs-aws-location-mcp-server
    awslabs-billing-cost-management-mcp-server awslabs-cloudwatch-mcp-server awslabs-dynamodb-mcp-server
    awslabs-memcached-mcp-server binance-mcp blender-mcp dida-mcp-server docx-mcp-server duckduckgo-mcp-server
    esolat-mcp excel-mcp-server finance-calc-mcp flight-recon-mcp google-maps-mcp-server graph-mcp ha-mcp
    iso-financial-mcp jira-mcp-standalone kilimo-mcp korea-data-mcp kubectl-mcp-server mathmethods-mcp mcp-discord
    mcp-server-git mcp-yahoo-finance mfa-servicenow-mcp office-powerpoint-mcp-server office-word-mcp-server
    openbb-mcp-server opensearch-mcp-server-py rootly-mcp-server slack-mcp-server telegram-mcp trello-mcp
    wikipedia-mcp workspace-mcp
    """.split()
)
"""MCP servers, whose tools carry descriptions written for a model."""

EVALUATION_PROJECTS = frozenset(
    "celery black mitmproxy streamlit conan luigi scrapy prefect xarray textual networkx moto".split()
)
"""Kept for evaluation: nothing of theirs is trained on."""

EVALUATION_SETS = ("bfcl-eval",)
"""Distributions that hold benchmarks: read only to keep their texts out."""

SAME_OWNERS = frozenset(
    """
    kombu billiard vine amqp django-celery-beat django-celery-results flower requests cachecontrol blackd pdoc
    mitmproxy-rs luigi-tools parsel w3lib itemadapter itemloaders queuelib protego fastmcp marvin prefect-aws
    prefect-gcp prefect-dask numexpr bottleneck sparse pandas-datareader rich textual-dev conan-server bfcl-eval
    """.split()
)
"""Other projects of the same owners, which share text and style with them."""


def fetch(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Downloads a wheel (else an sdist) of each into `folder`, once; the names that could not be had."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for name in names:
        stem = name.replace("-", "_").replace(".", "_").lower()
        if any(
            path.name.lower().replace("-", "_").replace(".", "_").startswith(f"{stem}_") for path in folder.iterdir()
        ):
            continue
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        ways = (["--only-binary", ":all:"], ["--no-binary", ":all:", "--no-build-isolation"])
        if not any(
            subprocess.run([*command, *way, name], check=False, capture_output=True).returncode == 0 for way in ways
        ):
            missing.append(name)
    return missing
