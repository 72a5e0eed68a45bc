// What runs in the containers of the local cluster, apart from the product: small static programs without dependencies.
module github.com/sharelinuxs/modelbox-apiserver/hack/images

go 1.26.0
