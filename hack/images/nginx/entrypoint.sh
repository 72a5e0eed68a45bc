#!/bin/busybox sh
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Starts nginx with the folders that it does not make itself.

set -o errexit -o nounset

/bin/busybox mkdir -p /etc/nginx/conf.d /run /var/lib/nginx
exec /usr/sbin/nginx -g 'daemon off;'
