// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package set

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// configOptions are the options of "kubectl modelbox set config".
type configOptions struct {
	cliutil.Action

	// Config is the name of the config, which one of a box may be without.
	Config string
	// MountPath is where the main container sees the files. It is needed for a config that a box does not have yet.
	MountPath string
	// FileSources and LiteralSources are the sources of "kubectl create configmap".
	FileSources    []string
	LiteralSources []string
	// Prune takes out the files that are not given.
	Prune bool

	files *files
}

func newConfigCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &configOptions{Action: cliutil.NewAction(streams, "config updated")}
	cmd := &cobra.Command{
		Use:                   "config (NAME... | TYPE/NAME... | -f FILENAME) [--config=NAME] [--mount-path=PATH] [--from-file=[KEY=]SOURCE] [--from-literal=KEY=VALUE]",
		DisableFlagsInUseLine: true,
		Short:                 "Set the files of boxes",
		Long: "Set files in a config of a box, or add a config to a box. The server creates a ConfigMap for each config. Files " +
			"that are not UTF-8 are stored in binaryData. The other files of the config are kept, unless --prune is set.",
		Example: templates.Examples(`
			# Mount the files of directory conf into the container of box web at /etc/web
			kubectl modelbox set config web --mount-path=/etc/web --from-file=conf

			# Replace one file of the config
			kubectl modelbox set config web --from-file=web.conf=new.conf

			# Replace all files of config "templates" with the files of a directory
			kubectl modelbox set config web --config=templates --from-file=templates --prune`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmd.Flags().StringVar(&o.Config, "config", o.Config, "Name of the config. Default is the config without a name.")
	cmd.Flags().StringVar(&o.MountPath, "mount-path", o.MountPath, "Directory at which the files are mounted into the container. Required for a new config.")
	cmd.Flags().StringSliceVar(&o.FileSources, "from-file", o.FileSources, "Key file can be specified using its file path, in which case file basename will be used as key, or optionally with a key and file path. Specifying a directory will iterate each file in the directory, whose basename must be a valid ConfigMap key.")
	cmd.Flags().StringArrayVar(&o.LiteralSources, "from-literal", o.LiteralSources, "Specify a key and literal value to insert (for example mykey=somevalue).")
	cmd.Flags().BoolVar(&o.Prune, "prune", o.Prune, "If true, remove the files of the config that are not specified.")
	return cmd
}

// Validate reads the files, and returns an error for those that cannot be.
func (o *configOptions) Validate() error {
	if len(o.FileSources)+len(o.LiteralSources) == 0 && o.MountPath == "" {
		return errors.New("one of --from-file, --from-literal and --mount-path must be specified")
	}
	if err := o.Selection.Validate(); err != nil {
		return err
	}
	var err error
	o.files, err = readFiles(o.FileSources, o.LiteralSources)
	return err
}

// Run changes the boxes. The error has all that have not been.
func (o *configOptions) Run(ctx context.Context) error {
	return o.Change(ctx, o.setConfig)
}

// setConfig changes one box.
func (o *configOptions) setConfig(box *modelv1.ModelBox) error {
	i := slices.IndexFunc(box.Spec.Configs, func(config modelv1.ModelBoxConfig) bool { return config.Name == o.Config })
	if i < 0 {
		if o.MountPath == "" {
			return fmt.Errorf("has no config %q: --mount-path is required for a new config", o.Config)
		}
		i = len(box.Spec.Configs)
		box.Spec.Configs = append(box.Spec.Configs, modelv1.ModelBoxConfig{Name: o.Config})
	}
	config := &box.Spec.Configs[i]
	if o.MountPath != "" {
		config.MountPath = o.MountPath
	}
	if o.Prune {
		config.Data, config.BinaryData = nil, nil
	}
	o.files.addTo(config)
	return nil
}
