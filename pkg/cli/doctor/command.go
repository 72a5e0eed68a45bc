// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package doctor is "kubectl modelbox doctor": it looks at an installation from outside, and at each of its servers.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const apiServiceName = "v1." + modelv1.GroupName

// requestTimeout is how long a server may take to answer: one that hangs is not healthy.
const requestTimeout = 10 * time.Second

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams

	// PrintFlags print what was found. Without a format it is a table.
	PrintFlags *genericclioptions.JSONYamlPrintFlags
	// Output is the format, "" for a table.
	Output string

	config      *rest.Config
	client      kubernetes.Interface
	boxes       versioned.Interface
	apiServices aggregator.Interface
	clock       clock.PassiveClock
	printer     printers.ResourcePrinter

	// apiService and service are nil until they are read.
	apiService *apiregistrationv1.APIService
	service    *corev1.Service
}

// NewCommand returns the command "kubectl modelbox doctor".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewJSONYamlPrintFlags(), clock: clock.RealClock{}}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation",
		Long: "Check the installation: the APIService and its Service, the servers with their certificates, versions and " +
			"stores, the leader of the controllers, and the permissions of the servers. The command changes nothing.\n\nThe " +
			"command connects to the servers through port forwarding, with your credentials. A check that you have no " +
			"permission for is Unknown. The command fails if a check is Failed.",
		Example: templates.Examples(`
			# Check the installation
			kubectl modelbox doctor`),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Complete(f); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.Output, "output", "o", o.Output, "Output format. One of: (json, yaml).")
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory) (err error) {
	if o.Output != "" {
		if o.printer, err = o.PrintFlags.ToPrinter(o.Output); err != nil {
			return err
		}
	}
	if o.config, err = f.ToRESTConfig(); err != nil {
		return err
	}
	o.config = rest.CopyConfig(o.config)
	o.config.WarningHandler = rest.NoWarnings{}
	if o.client, err = kubernetes.NewForConfig(o.config); err != nil {
		return err
	}
	if o.boxes, err = versioned.NewForConfig(o.config); err != nil {
		return err
	}
	o.apiServices, err = aggregator.NewForConfig(o.config)
	return err
}

// Run checks everything, and prints what it has found.
func (o *Options) Run(ctx context.Context) error {
	var all findings
	for _, check := range []func(context.Context) findings{
		o.checkCluster, o.checkAPIService, o.checkServers, o.checkLease, o.checkPermissions, o.checkObjects,
	} {
		all = append(all, check(ctx)...)
	}
	var err error
	if o.printer != nil {
		err = o.printer.PrintObj(all.list(), o.Out)
	} else {
		err = all.print(o.Out)
	}
	if err == nil && all.hasFailed() {
		err = errors.New("the installation has failed checks")
	}
	return err
}

// checkCluster tells the version of Kubernetes.
func (o *Options) checkCluster(context.Context) findings {
	version, err := o.client.Discovery().ServerVersion()
	if err != nil {
		return findings{failed("Kubernetes", "cannot get the version of the cluster: %v", err)}
	}
	return findings{fine("Kubernetes", "version %s", version.GitVersion)}
}

// list returns the findings as an object that printers take.
func (f findings) list() *unstructured.Unstructured {
	items := make([]any, 0, len(f))
	for _, finding := range f {
		items = append(items, map[string]any{"status": string(finding.status), "check": finding.check, "message": finding.message})
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "items": items}}
}

// count is "3 boxes", "1 box".
func count(number int64, one, several string) string {
	if number == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", number, several)
}
