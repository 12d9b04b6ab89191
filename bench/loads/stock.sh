# shellcheck shell=bash disable=SC2034,SC2154
title="redis, nginx and PostgreSQL with their clients"
comms='redis-server|bio_.*|io_thd_.*|jemalloc_bg_thd|nginx|postgres|redis-benchmark|ab|pgbench'
roots='main|_?_?libc_start.*|_start|start_thread|_?_?clone3?|[[](thread|process)[_ ]start[]]'
load_why_not() {
  local missing=
  [ -d "$(postgres_bin)" ] || missing="$missing postgresql postgresql-contrib"
  command -v redis-server >/dev/null || missing="$missing redis-server"
  command -v redis-benchmark >/dev/null || missing="$missing redis-tools"
  [ -x /usr/sbin/nginx ] || missing="$missing nginx"
  command -v ab >/dev/null || missing="$missing apache2-utils"
  [ -z "$missing" ] || echo "apt-get install --no-install-recommends$missing"
}
postgres_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1; }
as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
# As the kernel keeps them for local use, one after the other, unlike the programs' own ports.
port=$((20000 + $$ % 10000))

load_start() {
  local data bin
  bin=$(postgres_bin)
  data=$(mktemp -d)
  # Not in our own folder, which is closed to others.
  stock_data=$data
  chown postgres "$data"
  "${as_postgres[@]}" "$bin/initdb" -D "$data/db" -A trust --no-sync >"$work/initdb" 2>&1 || return 1
  in_load "${as_postgres[@]}" "$bin/postgres" -D "$data/db" -p $((port + 2)) -k "$data" -c listen_addresses=127.0.0.1 -c fsync=off
  in_load redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work"
  mkdir -p "$work/www" "$work/nginx"
  head -c 4096 /dev/zero >"$work/www/index.html"
  chmod 755 "$work" "$work/www"
  cat >"$work/nginx/conf" <<END
daemon off; user root; worker_processes 2; pid $work/nginx/pid; error_log /dev/null;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path $work/nginx/a; proxy_temp_path $work/nginx/b; fastcgi_temp_path $work/nginx/c;
  uwsgi_temp_path $work/nginx/d; scgi_temp_path $work/nginx/e;
  server { listen 127.0.0.1:$((port + 1)); root $work/www; }
}
END
  in_load /usr/sbin/nginx -p "$work/nginx" -c "$work/nginx/conf"
  until_true 60 "$bin/pg_isready" -q -h 127.0.0.1 -p $((port + 2)) &&
    until_true 60 redis-cli -p "$port" ping &&
    "${as_postgres[@]}" "$bin/pgbench" -q -i -s 2 -h 127.0.0.1 -p $((port + 2)) postgres >"$work/pgbench" 2>&1
}

# As many requests each time: the servers' work is the same with every tool.
rounds=0
load_spend() {
  local until=$((SECONDS + $1)) bin clients
  bin=$(postgres_bin)
  while
    in_load redis-benchmark -p "$port" -n 20000 -c 20 -t get,set -q
    clients=$!
    in_load ab -q -n 5000 -c 10 "http://127.0.0.1:$((port + 1))/"
    clients="$clients $!"
    in_load "${as_postgres[@]}" "$bin/pgbench" -n -c 4 -t 250 -h 127.0.0.1 -p $((port + 2)) postgres
    # shellcheck disable=SC2086 # one by one
    wait $clients $!
    rounds=$((rounds + 1))
    [ $SECONDS -lt $until ]
  do :; done
}
load_work() { echo $rounds; }
load_end() {
  group_end load
  rm -rf "${stock_data:?}"
}
