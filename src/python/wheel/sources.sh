#!/bin/sh
# Downloads the pinned sources of the libraries that are linked into wheels to DEST: cjson, zlib, xxhash, and
# include with their headers.
#
#	src/python/wheel/sources.sh DEST
#
# The sources are Debian's (13), from the mirror of this machine's apt, or else from DEBIAN_MIRROR. apt's
# downloader compares the checksums.
set -eu
dest=$1 new=$1.new
# shellcheck disable=SC2016 # the names are apt's
mirrors=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep 'debian/*$' | sort -u)}

get() { # get NAME PATH SHA256
	for mirror in $mirrors; do
		if /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file "${mirror%/}/pool/main/$2" "$new/$1.tar.gz" \
			"SHA256:$3" >>"$new/log" 2>&1; then
			mkdir "$new/$1"
			tar -xzf "$new/$1.tar.gz" -C "$new/$1" --strip-components 1
			return
		fi
	done
	[ -e "$new/log" ] && tail -n 5 "$new/log" >&2
	echo "$2: expected this source package with SHA256 $3 at a mirror of Debian, found none at: ${mirrors:-(none in the sources of apt)}" >&2
	echo "DEBIAN_MIRROR=URL names a mirror; where Debian has dropped this version, $0 names another and its checksum." >&2
	exit 1
}

rm -rf "$new"
mkdir -p "$new/include/cjson"
get cjson c/cjson/cjson_1.7.18.orig.tar.gz 3aa806844a03442c00769b83e99970be70fbef03735ff898f4811dd03b9f5ee5
get zlib z/zlib/zlib_1.3.dfsg+really1.3.1.orig.tar.gz 60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb
get xxhash x/xxhash/xxhash_0.8.3.orig.tar.gz aae608dfe8213dfd05d909a57718ef82f30722c392344583d3f39050c7f29a80
cp "$new/cjson/cJSON.h" "$new/include/cjson/"
cp "$new/zlib/zlib.h" "$new/zlib/zconf.h" "$new/xxhash/xxhash.h" "$new/include/"
rm -rf "$dest"
mv "$new" "$dest"
