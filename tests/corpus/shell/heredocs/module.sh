write() {
  cat <<'EOF'
no() {
}
EOF
}

cat <<EOF > file
also_no() { :; }
EOF

after() {
  echo "}" # }
}
