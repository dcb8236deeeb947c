"""Rules that invent plausible names the way code models do.

Used by `truth.py` and `choose.py`; nothing here is run by itself.
"""

from __future__ import annotations

import random


def _table(text: str) -> dict[str, list[str]]:
    """`key: word word` lines as word lists; a key may go on in a second line."""
    table: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        key, words = line.split(":", 1)
        table.setdefault(key.strip(), []).extend(words.split())
    return table


#: verbs that stand for each other in the names that models make up
VERBS = _table(
    """
    get: fetch retrieve obtain
    load: read fetch import
    read: load fetch
    parse: decode extract analyze
    write: save dump store
    add: append insert register
    remove: delete drop
    delete: remove drop
    create: build make new
    update: modify refresh sync
    set: assign update configure
    find: search lookup locate
    run: execute start launch
    format: render stringify
    render: draw format display
    check: validate verify
    make: build create
    start: launch begin
    stop: halt terminate
    open: connect create
    close: shutdown dispose
    send: dispatch transmit post
    process: handle transform
    is: check_is was
    has: contains includes
    handle: process manage
    build: create construct
    resolve: lookup expand
    print: display show output
    log: write_log record
    init: initialize setup
    setup: initialize configure
    validate: check verify
    convert: transform to
    encode: serialize
    decode: deserialize
    split: tokenize divide
    join: concat combine
    register: add attach
    append: push add
    extend: add_all
    generate: create produce
    extract: pull parse
    compile: build
    match: matches test
    merge: combine
    call: invoke
    emit: fire trigger
    connect: open_connection
    execute: run_query perform
    wrap: enclose
    next: advance
    """
)

#: endings of invented functions and methods
SUFFIX = [
    "_async",
    "_all",
    "_by_id",
    "_by_name",
    "_or_none",
    "_with_retry",
    "_safe",
    "_many",
    "_list",
    "_from_dict",
    "_sync",
    "_once",
    "_or_default",
    "_as_dict",
    "_batch",
]

#: endings of invented classes
CSUFFIX = ["Manager", "Client", "Config", "Factory", "Handler", "Builder", "Options", "Helper"]


def invent(name: str, rng: random.Random) -> list[str]:
    """Candidate invented names for an existing name, shuffled."""
    lead = name[: len(name) - len(name.lstrip("_"))]
    core = name[len(lead) :]
    if not core:
        return []
    out: list[str] = []
    if core[0].isupper() and not core.isupper():
        out += [lead + core + s for s in rng.sample(CSUFFIX, 3)]
        out.append(lead + "Async" + core)
        if core.endswith("Error"):
            stem = core[:-5]
            out = [lead + stem + "Exception", lead + "Invalid" + core, lead + stem + "TimeoutError"]
        else:
            out.append(lead + "Base" + core + "Error")
    elif core.isupper():
        out += [lead + "DEFAULT_" + core, lead + core + "_MAX", lead + core + "S"]
    else:
        parts = core.split("_")
        if parts[0] in VERBS:
            out += ["_".join([verb, *parts[1:]]) for verb in VERBS[parts[0]]]
        out += [core + s for s in rng.sample(SUFFIX, 5)]
        if len(parts) > 1:
            out.append(parts[0] + "".join(p.title() for p in parts[1:]))
        else:
            out += ["get_" + core, "do_" + core, core + "_items"]
        if not core.endswith("s"):
            out.append(core + "s")
        out = [lead + o for o in out]
    rng.shuffle(out)
    return out


#: members that models expect in standard-library modules
STD = _table(
    """
    json: parse stringify to_string decode from_string read_file
    os.path: combine resolve is_file is_dir get_extension join_all filename
    os: mkdirs copy exists read_file get_env delete move list_files current_dir
    posixpath: combine resolve is_file get_extension
    time: now current_time millis timestamp wait utcnow
    random: rand random_int random_string pick shuffled
    re: find replace test match_all exec gsub
    datetime: now utcnow parse today from_string
    subprocess: exec execute run_command shell spawn get_output
    shutil: copy_file remove delete_tree copydir makedirs
    math: round abs clamp average sqr
    itertools: flatten chunk window unique
    functools: memoize compose curry pipe
    collections: SortedDict OrderedSet FrozenDict LinkedList
    hashlib: hash sha md5sum digest_file
    base64: encode_string b64_encode decode_string to_base64
    uuid: generate new random_uuid
    tempfile: create_temp_file mkdir temp_dir
    logging: get_logger success set_level trace init configure
    asyncio: spawn run_sync delay parallel sleep_ms await_all
    urllib.parse: parse_query encode url_join parse_url build_query
    inspect: get_arguments get_params get_class list_methods
    textwrap: wrap_text truncate unindent
    sys: getenv args print exit_with get_platform
    platform: os_name is_windows get_version
    socket: connect listen open_connection get_ip
    threading: create_thread spawn run_in_thread sleep
    string: upper replace ascii_letter join
    csv: read_file parse DictParser
    io: read_file FileReader StringBuffer
    sqlite3: open execute Client
    traceback: get_trace to_string format_error
    warnings: deprecated_call ignore warn_once
    signal: on trap register_handler
    codecs: read_file detect_encoding to_utf8
    struct: unpack_all read_int pack_string
    copy: clone deep_copy shallow
    operator: get compose attr
    select: wait poll_all
    errno: get_message strerror
    ssl: create_context SecureContext load_cert
    locale: get_language current
    zlib: gzip compress_string deflate
    gzip: compress_file read unzip
    zipfile: extract unzip create
    pathlib: join FilePath cwd
    argparse: parse Parser add_argument
    glob: find find_files recursive
    fnmatch: match matches
    html: encode strip_tags parse
    email: parse send create_message
    types: is_function make_class DynamicType
    typing: Tupled ListOf Nullable OptionalStr
    contextlib: async_context with_timeout using
    importlib: load import_string load_module_from_path
    pprint: format print_json
    getpass: prompt get_username
    webbrowser: launch open_url
    binascii: to_hex encode_hex
    concurrent.futures: run_all Pool gather
    """
)

#: members that models expect in third-party modules
THIRD = _table(
    """
    requests: fetch get_json download post_json request_json
    click: ask print input success warn error table exit
    yaml: load_file parse read to_string
    markdown: render to_html convert
    jinja2: render render_string load_template compile_template
    urllib3: get fetch disable_ssl_warnings
    pygments: colorize highlight_code render
    sqlparse: tokenize prettify parse_one
    psycopg: open query create_pool
    httpx: fetch get_json download
    rich: console table display
    werkzeug: Router run_app
    """
)

#: methods that models expect on well-known objects, often from other languages
JS = _table(
    """
    list: push add size contains indexOf for_each first last add_all is_empty unique join
    dict: has_key get_or_default iteritems put contains_key merge to_list add forEach length
    str: contains to_lower toUpperCase trim substring is_empty to_bytes includes concat startsWith reverse
    str: charAt
    set: push append contains has insert size
    tuple: to_list append first
    bytes: to_string to_hex append concat
    TextIOWrapper: read_all read_lines write_line get_contents writeln
    BufferedReader: read_bytes read_all get_contents
    Pattern: test exec replace find match_all
    Match: get get_group captures to_dict
    Logger: success trace fail warn_once notice log_error verbose
    PosixPath: join read list_dir write remove mkdirs get_parent to_string
    CompletedProcess: get_output text is_ok output
    Popen: get_output is_running run exit_code
    Thread: stop kill terminate is_running cancel
    datetime: to_string add_days format to_timestamp to_iso
    ArgumentParser: add_option add_flag parse add_positional add_command
    Response: get_json json_or_none to_dict is_success body_text
    Session: fetch get_json request_json
    Queue: push pop enqueue peek
    StringIO: to_string append get_text
    BytesIO: to_bytes append get_bytes
    OrderedDict: sort first put
    defaultdict: increment get_or_create put
    deque: push enqueue peek push_back
    ConfigParser: load get_value read_str to_dict
    Lock: lock unlock try_acquire
    Event: wait_for trigger fire
    socket: read write send_string receive
    Environment: render load_template compile_template add_filter
    """
)

#: keywords that models pass to callables without them
KW = [
    "timeout",
    "verbose",
    "encoding_errors",
    "retries",
    "default_value",
    "strict_mode",
    "max_length",
    "recursive",
    "ignore_errors",
    "force",
    "debug",
    "limit",
    "headers",
    "callback",
    "flush",
    "sort_by",
    "async_mode",
    "silent",
    "max_retries",
    "use_cache",
    "dry_run",
]

#: submodules that models expect
MODS = [
    "helpers",
    "utils_async",
    "async_client",
    "validators",
    "file_utils",
    "string_helpers",
    "retry",
    "constants_v2",
    "middlewares",
    "schemas",
    "type_defs",
    "cache_manager",
    "loaders_ext",
    "serializers",
]

#: top-level modules that models expect
TOPMODS = [
    "http_retry",
    "asynctools",
    "json_utils",
    "pyconfig_loader",
    "fastcache_client",
    "textutils_plus",
    "dict_merge",
    "simple_retry",
    "path_helpers",
    "yaml_loader",
    "smart_logger",
    "stringcase_utils",
    "env_settings",
    "filetree",
]
