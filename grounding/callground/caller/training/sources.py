"""Where the training data comes from, what stays out of it, and how it is fetched (by pip, from any index)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SERVICES = ("botocore", "awscli", "google-api-python-client", "azure-cli", "homeassistant")
"""Distributions whose service definitions and examples are read."""

PROJECTS = tuple(
    """
    accelerate aiohttp alembic altair anthropic apache-airflow apache-airflow-providers-amazon
    apache-airflow-providers-google astropy azure-ai-ml azure-cli-core azure-storage-blob biopython bokeh boto
    buildbot ccxt click dash dask datasets diffusers discord.py distributed django docker elasticsearch errbot
    fabric fastapi flask geopandas gradio great-expectations httpx ibis-framework invoke ipython jinja2 jira
    jupyterlab keras kubernetes langchain-community langchain-core llama-index-core mlflow music21 napalm
    nbconvert netmiko nicegui nltk notebook notion-client openai opsdroid pandas paramiko pip plotly poetry polars
    pydantic pymongo pyspark pytest pytorch-lightning redis salt scikit-learn sentry-sdk setuptools shapely
    slack-sdk spacy sphinx spotipy sqlalchemy starlette stripe superset sympy telethon tensorflow-datasets tornado
    transformers tweepy twilio twisted virtualenv wandb werkzeug yfinance zulip zulip-bots
    """.split()
)
"""Python projects whose docstrings and comments are read, where their licence allows it."""

TOOL_SERVERS = tuple(
    """
    agent-toolkit-mcp-server alinche-math-mcp-server alpaca-mcp-server amazon-orders-mcp arxiv-mcp-server
    awslabs-aws-location-mcp-server awslabs-billing-cost-management-mcp-server awslabs-cloudwatch-mcp-server
    awslabs-dynamodb-mcp-server awslabs-memcached-mcp-server binance-mcp blender-mcp crypto-portfolio-mcp
    dida-mcp-server docx-mcp-server duckduckgo-mcp-server email-client-mcp-server esolat-mcp excel-mcp-server
    finance-calc-mcp flight-recon-mcp github-projects-mcp google-maps-mcp-server graph-mcp ha-mcp
    iflow-mcp-aliyun-adbpg-mcp-server iflow-mcp-grll-pubmedmcp iflow-mcp-jaalbin24-wikijs-mcp-server
    iflow-mcp-k8s-multicluster-mcp iflow-mcp-todoist-mcp iso-financial-mcp jira-mcp-standalone kilimo-mcp
    korea-data-mcp kubectl-mcp-server mathmethods-mcp mcp-atlassian mcp-discord mcp-obsidian mcp-server-git
    mcp-stata mcp-weather-server mcp-yahoo-finance mfa-servicenow-mcp office-powerpoint-mcp-server
    office-word-mcp-server open-meteo-mcp openbb-mcp-server opensearch-mcp-server-py pubmed-mcp rootly-mcp-server
    slack-mcp-server spotify-mcp telegram-mcp trello-mcp unichat-mcp-server wikipedia-mcp workspace-mcp zoom-mcp
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
