// The programs are built with one of the files beside this one instead, which hack/update-hosts.sh writes:
// go build -modfile v1.33.mod
module github.com/sharelinuxs/modelbox-apiserver/hack/hosts

go 1.26.0
