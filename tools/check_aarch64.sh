#!/bin/sh
# Runs the aarch64 wheel in FOLDER_OF_WHEELS under qemu, with Debian's Python for arm64, and compares the digests of its runs
# with those of the module that PYTHON has. Packages are unpacked into FOLDER, nothing is installed.
set -eu
[ $# = 3 ] || { echo "usage: tools/check_aarch64.sh FOLDER FOLDER_OF_WHEELS PYTHON" >&2; exit 2; }
mkdir -p "$1/arm64"
folder=$(cd "$1" && pwd)
wheels=$(cd "$2" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
APT_CONFIG=$("$tree/tools/apt_for_arm64.sh" "$folder")
export APT_CONFIG
root=$folder/arm64/root
if [ ! -x "$root/usr/bin/qemu-aarch64-static" ]; then
  (cd "$folder/arm64" && apt-get download -qq qemu-user-static python3.11-minimal:arm64 libpython3.11-minimal:arm64 \
    libpython3.11-stdlib:arm64 libc6:arm64 zlib1g:arm64 libexpat1:arm64 libgcc-s1:arm64 &&
    for package in *.deb; do dpkg -x "$package" "$root"; done)
fi
rm -rf "$folder/site"
"$3" -m zipfile -e "$wheels"/priolane-*aarch64.whl "$folder/site"
"$3" "$tree/tools/digests.py" > "$folder/here"
PYTHONPATH=$folder/site "$root/usr/bin/qemu-aarch64-static" -L "$root" "$root/usr/bin/python3.11" "$tree/tools/digests.py" \
  > "$folder/aarch64"
diff "$folder/here" "$folder/aarch64"
echo "aarch64: $(wc -l < "$folder/aarch64") digests as here"
