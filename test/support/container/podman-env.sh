# shellcheck shell=bash
# Settings under which Debian 12's podman and buildah run as root without systemd, CAP_SYS_RESOURCE or a single cgroup version.
podman_env() {
  local folder=$1
  mkdir -p "$folder"
  cat >"$folder/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$folder/storage"
runroot = "$folder/run"
END
  cat >"$folder/containers.conf" <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
END
  export CONTAINERS_STORAGE_CONF=$folder/storage.conf CONTAINERS_CONF=$folder/containers.conf BUILDAH_ISOLATION=chroot
}
