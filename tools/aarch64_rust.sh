#!/bin/sh
# A compiler for aarch64 from Debian's packages, for machines that `rustup target add` cannot serve. Packages are unpacked into
# FOLDER, nothing is installed. Then: RUSTC=FOLDER/rustc make wheel-aarch64
set -eu
[ $# = 1 ] || { echo "usage: tools/aarch64_rust.sh FOLDER" >&2; exit 2; }
mkdir -p "$1/packages"
folder=$(cd "$1" && pwd)
APT_CONFIG=$("$(dirname "$0")/apt_for_arm64.sh" "$folder")
export APT_CONFIG
cd "$folder/packages"
std=$(apt-cache depends libstd-rust-web-dev | awk '/Depends: libstd-rust-web-/ { print $2 }')
llvm=$(apt-cache depends "$std" | awk '/Depends: libllvm/ { print $2 }')
apt-get download -qq rustc-web "$std" libstd-rust-web-dev "$llvm" libstd-rust-web-dev:arm64
for package in *.deb; do dpkg -x "$package" "$folder/root"; done
cat > "$folder/rustc" <<W
#!/bin/sh
LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu exec $folder/root/usr/bin/rustc --sysroot $folder/root/usr "\$@"
W
chmod +x "$folder/rustc"
"$folder/rustc" --version
