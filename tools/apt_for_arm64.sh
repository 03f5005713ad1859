#!/bin/sh
# Lists Debian's packages for amd64 and arm64 below FOLDER and prints the path of an apt.conf that reads them. Needs no root, and
# changes nothing in the system.
set -eu
[ $# = 1 ] || { echo "usage: tools/apt_for_arm64.sh FOLDER" >&2; exit 2; }
mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
folder=$(cd "$1" && pwd)
cat > "$folder/apt.conf" <<C
APT::Architecture "amd64";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "";
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
C
APT_CONFIG=$folder/apt.conf apt-get update -qq
echo "$folder/apt.conf"
