// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/snapshot"
)

// newSnapshotCommand returns the command for backups.
func newSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save, verify and restore snapshots of etcd",
		Long: `Save, verify and restore snapshots. A snapshot has all data of an etcd at one time. The files have the format of etcdctl and etcdutl,
which restore an outside etcd from them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	usePlainHelp(cmd)
	cmd.AddCommand(newSaveCommand(), newStatusCommand(), newRestoreCommand())
	return cmd
}

func newSaveCommand() *cobra.Command {
	storage, etcd := options.NewStorageOptions(), newEtcdOptions()
	var output output
	cmd := &cobra.Command{
		Use:   "save FILE",
		Short: "Save a snapshot to a new file",
		Long: `Save a snapshot of the embedded etcd in --data-dir, whether its server is running or not, or of the first of
--etcd-servers. If the snapshot is incomplete or cannot be verified, the command creates no file.`,
		Example: `  modelbox-apiserver snapshot save /backup/boxes.db --data-dir=/var/lib/modelbox`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := storage.Complete(etcd); err != nil {
				return err
			}
			status, err := save(cmd.Context(), storage, etcd.StorageConfig.Transport, args[0])
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), status)
		},
	}
	storage.AddDataDirFlag(cmd.Flags())
	transport := &etcd.StorageConfig.Transport
	cmd.Flags().StringSliceVar(&transport.ServerList, "etcd-servers", transport.ServerList, "List of etcd servers to connect with (scheme://ip:port), comma separated.")
	cmd.Flags().StringVar(&transport.KeyFile, "etcd-keyfile", transport.KeyFile, "SSL key file used to secure etcd communication.")
	cmd.Flags().StringVar(&transport.CertFile, "etcd-certfile", transport.CertFile, "SSL certification file used to secure etcd communication.")
	cmd.Flags().StringVar(&transport.TrustedCAFile, "etcd-cafile", transport.TrustedCAFile, "SSL Certificate Authority file used to secure etcd communication.")
	output.addFlag(cmd)
	return cmd
}

func newEtcdOptions() *genericoptions.EtcdOptions {
	return genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig("", nil))
}

// save asks the server that runs in the data directory, or runs its etcd itself where there is none.
func save(ctx context.Context, storage *options.StorageOptions, transport storagebackend.TransportConfig, file string) (*snapshot.Status, error) {
	if storage.DataDir != "" {
		if !embeddedetcd.Exists(storage.DataDir) {
			return nil, fmt.Errorf("--data-dir: %s has no data", storage.DataDir)
		}
		etcd, err := embeddedetcd.Start(ctx, storage.EmbeddedEtcd())
		if err == nil {
			defer etcd.Stop()
		} else if !errors.Is(err, embeddedetcd.ErrInUse) {
			return nil, err
		}
	}
	client, err := connectToEtcd(ctx, transport)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return snapshot.Save(ctx, client, file)
}

func newStatusCommand() *cobra.Command {
	var output output
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Verify a snapshot and print its hash, revision, keys and size",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := snapshot.Read(args[0])
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), status)
		},
	}
	output.addFlag(cmd)
	return cmd
}

func newRestoreCommand() *cobra.Command {
	storage := options.NewStorageOptions()
	var output output
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a snapshot into an empty data directory",
		Long: fmt.Sprintf(`Restore a snapshot of any etcd into the embedded etcd of an empty --data-dir. The new revision is %d above the revision of the
snapshot, so that clients that have seen later revisions list again. If the command fails, the directory has no etcd.

Stop the server first, and run the command as the user of the server.`, snapshot.RevisionBump),
		Example: `  modelbox-apiserver snapshot restore /backup/boxes.db --data-dir=/var/lib/modelbox`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := storage.Complete(newEtcdOptions()); err != nil {
				return err
			}
			status, err := snapshot.Restore(cmd.Context(), args[0], storage.DataDir)
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), status)
		},
	}
	storage.AddDataDirFlag(cmd.Flags())
	output.addFlag(cmd)
	return cmd
}

// output is a format: empty for people, or "json".
type output string

func (o *output) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP((*string)(o), "output", "o", "", "Output format. One of: (json).")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *o != "" && *o != "json" {
			return fmt.Errorf("--output is %q and must be json or empty", *o)
		}
		return nil
	}
}

func (o *output) print(out io.Writer, status *snapshot.Status) error {
	if *o == "json" {
		return json.NewEncoder(out).Encode(status)
	}
	_, err := fmt.Fprintf(out, "hash %08x, revision %d, %d keys, %s\n", status.Hash, status.Revision, status.Keys, embeddedetcd.Quantity(status.Bytes))
	return err
}
