// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/sizelimit"
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

// memoryShare is the part of the memory limit that the objects of one namespace may take as they are stored. In the watch
// cache, in the caches of controllers and in responses they take several times as much.
const memoryShare = 8

// namespaceLimit returns how many bytes the objects of a namespace may take, 0 for no limit. etcd is nil for an outside one.
// memoryLimit is that of the process, math.MaxInt64 for none.
func (o *StorageOptions) namespaceLimit(etcd *embeddedetcd.Server, memoryLimit int64) int {
	if o.MaxNamespaceBytes != 0 {
		return int(max(0, o.MaxNamespaceBytes))
	}
	limit := int64(math.MaxInt64)
	if etcd != nil {
		limit = etcd.BytesForBoxes() / 2
	}
	if memoryLimit < math.MaxInt64 {
		limit = min(limit, memoryLimit/memoryShare)
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return int(limit)
}

// ApplyTo sets up the storage of the server. It stands in for EtcdOptions.ApplyTo, whose storage factory ignores
// --storage-media-type.
func (o *StorageOptions) ApplyTo(etcd *genericoptions.EtcdOptions, config *genericapiserver.Config) error {
	storageConfig := etcd.StorageConfig
	storageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	factory := apiserver.NewStorageFactory(storageConfig, etcd.DefaultStorageMediaType, config.EffectiveVersion)
	if err := etcd.ApplyWithStorageFactoryTo(factory, config); err != nil {
		return err
	}
	config.RESTOptionsGetter = sizelimit.WithLimits(compression.WithCompression(config.RESTOptionsGetter))
	return nil
}

// Identity names this process to the others. The embedded etcd lives in one process at a time, so its process has
// the name of the folder, which it keeps when it is started again: a leader that was killed then takes up its
// Lease at once. Any other process gets a name of its own, and so does one on a copy of the folder, whose original may
// be in use.
func (o *StorageOptions) Identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("reading the host name: %w", err)
	}
	if o.DataDir == "" {
		return host + "_" + string(uuid.NewUUID()), nil
	}
	file := filepath.Join(o.DataDir, "identity")
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) || err == nil && len(data) == 0 {
		data = []byte(uuid.NewUUID())
		err = writeWhole(file, data)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the identity of the data directory: %w", err)
	}
	place, err := placeOf(host, file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("embedded_%s_%s", data, place), nil
}

// placeOf tells a file of the host from all copies of it: they are on another host, on another disk, or beside it.
func placeOf(host, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("looking for where the data directory is: %w", err)
	}
	var device, inode uint64
	if stat, isUnix := info.Sys().(*syscall.Stat_t); isUnix {
		device, inode = uint64(stat.Dev), stat.Ino
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", host, device, inode))
	return hex.EncodeToString(sum[:4]), nil
}

// writeWhole leaves either the whole file or none behind, wherever the process is stopped.
func writeWhole(file string, data []byte) error {
	draft := file + ".new"
	if err := os.WriteFile(draft, data, 0o600); err != nil {
		return err
	}
	return os.Rename(draft, file)
}
