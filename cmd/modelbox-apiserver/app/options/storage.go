// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

const defaultDataDir = "/var/lib/modelbox"

// StorageOptions says where the objects are kept: in an etcd of the server's own, or in an outside cluster.
type StorageOptions struct {
	// DataDir is the folder of the embedded etcd. Empty after Complete when an outside etcd is used.
	DataDir string
	// QuotaBackendBytes is the size of the embedded etcd's database at which it refuses writes. 0: as large as the disk
	// has room for.
	QuotaBackendBytes int64
	// MaxNamespaceBytes is how much the objects of one namespace may take, before they are compressed. 0: half of what the
	// embedded etcd has for objects, and an eighth of the memory limit. Negative: no limit.
	MaxNamespaceBytes int64
}

// NewStorageOptions returns the defaults.
func NewStorageOptions() *StorageOptions {
	return &StorageOptions{}
}

// AddFlags adds the flags.
func (o *StorageOptions) AddFlags(fs *pflag.FlagSet) {
	o.AddDataDirFlag(fs)
	fs.Int64Var(&o.MaxNamespaceBytes, "max-modelbox-bytes-per-namespace", o.MaxNamespaceBytes, "Maximum size, in bytes, of all objects in a namespace, before they are compressed. "+
		"If 0, half of the space for objects in the embedded etcd, or an eighth of the memory limit of the server (GOMEMLIMIT) if that is less. If -1, no limit. Use a ResourceQuota to limit object counts.")
	fs.Int64Var(&o.QuotaBackendBytes, "quota-backend-bytes", o.QuotaBackendBytes, "Size of the database of the embedded etcd, in bytes, at which it refuses writes. Objects can use three quarters of it, but not the last 8 MiB. "+
		"If 0, nearly half of the disk of --data-dir, because a defragmentation copies the database, but at most 8 GiB.")
}

// AddDataDirFlag adds the flag that says where the embedded etcd is.
func (o *StorageOptions) AddDataDirFlag(fs *pflag.FlagSet) {
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir, "Directory of the embedded etcd, which the server uses unless --etcd-servers is set. "+
		"It holds every object: use a persistent disk. (default \""+defaultDataDir+"\")")
}

// Complete chooses between the two, and points etcd's clients at the one chosen.
func (o *StorageOptions) Complete(etcd *genericoptions.EtcdOptions) error {
	servers := &etcd.StorageConfig.Transport.ServerList
	switch {
	case len(*servers) > 0 && o.DataDir != "":
		return errors.New("--data-dir is for the embedded etcd and may not be specified together with --etcd-servers")
	case len(*servers) > 0:
		return nil
	case o.DataDir == "":
		o.DataDir = defaultDataDir
	}
	endpoint, err := embeddedetcd.Endpoint(o.DataDir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	*servers = []string{endpoint}
	return nil
}

// Validate returns every error in the options.
func (o *StorageOptions) Validate() []error {
	if o.QuotaBackendBytes != 0 && o.QuotaBackendBytes < embeddedetcd.MinQuotaBytes {
		return []error{fmt.Errorf("--quota-backend-bytes is %d and must be 0, or at least %d", o.QuotaBackendBytes, embeddedetcd.MinQuotaBytes)}
	}
	return nil
}

// EmbeddedEtcd returns the configuration of the embedded etcd. It has to be completed, and there has to be one.
func (o *StorageOptions) EmbeddedEtcd() embeddedetcd.Config {
	return embeddedetcd.Config{Dir: o.DataDir, QuotaBackendBytes: o.QuotaBackendBytes}
}
