"""OpenStack Swift with its S3 interface in one process: python3 swift-store.py FOLDER [PORT]

Prints the port of the S3 interface when it is ready. FOLDER must be on a file system with extended attributes.
"""

import logging
import os
import sys

import eventlet

eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True, time=True)

from swift.common import utils, wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402

folder = os.path.abspath(sys.argv[1])
port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
os.makedirs(os.path.join(folder, "devices", "d1"), exist_ok=True)


def write(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    return os.path.join(folder, name)


write(
    "swift.conf",
    "[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n"
    "[storage-policy:0]\nname = one\ndefault = yes\n",
)
utils.set_swift_dir(folder)


def serve(app, at=0):
    sock = eventlet.listen(("127.0.0.1", at))
    log = logging.getLogger("swift-store")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    eventlet.spawn(eventlet.wsgi.server, sock, app, log=log, log_output=False, debug=False)
    return sock.getsockname()[1]


common = f"""[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
log_level = CRITICAL
"""
for kind in ("account", "container", "object"):
    path = write(
        f"{kind}-server.conf",
        f"{common}[pipeline:main]\npipeline = {kind}-server\n[app:{kind}-server]\nuse = egg:swift#{kind}\n",
    )
    # The other servers are found through the ring, which needs the port first.
    sock_port = serve(wsgi.loadapp(path, global_conf={}))
    ring = RingBuilder(2, 1, 0)
    ring.add_dev(
        {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": sock_port, "device": "d1", "weight": 1,
         "replication_ip": "127.0.0.1", "replication_port": sock_port, "meta": ""}
    )
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, f"{kind}.ring.gz"))

proxy = write(
    "proxy-server.conf",
    common
    + """[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = test-region
[filter:tempauth]
use = egg:swift#tempauth
user_test_writer = writer-secret .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
""",
)
print(serve(wsgi.loadapp(proxy, global_conf={}), port), flush=True)
while True:
    eventlet.sleep(3600)
