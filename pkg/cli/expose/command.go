// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package expose is "kubectl modelbox expose": it gives boxes a port, and says how they are reached there.
package expose

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// Options are the options of the command. An empty option does not change its field.
type Options struct {
	cliutil.Action

	// Port is the port of the Service.
	Port int32
	// Protocol is the protocol of the port. Empty means TCP.
	Protocol string
	// TargetPort is the number or the name of the port of the pods.
	TargetPort string
	// Type is the type of the Service.
	Type string
	// Hosts are the names by which an Ingress leads to the box, and Path is where.
	Hosts []string
	Path  string
}

// NewCommand returns the command "kubectl modelbox expose".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{Action: cliutil.NewAction(streams, "exposed")}
	cmd := &cobra.Command{
		Use:                   "expose (NAME... | TYPE/NAME... | -f FILENAME) [--port=PORT] [--target-port=NUMBER-OR-NAME] [--type=TYPE] [--host=HOST...]",
		DisableFlagsInUseLine: true,
		Short:                 "Expose boxes with a port, a Service type or an Ingress",
		Long: "Expose boxes: add a port to a box or change one of its ports, set the type of its Service, or set the hosts and " +
			"the path of its Ingress. The command changes the spec of the box, and the server then creates or updates the " +
			"Service and the Ingress. Fields without a flag keep their values.",
		Example: templates.Examples(`
			# Expose box web on port 80, and connect to its containers on port 8080
			kubectl modelbox expose web --port=80 --target-port=8080

			# Expose box web through a load balancer
			kubectl modelbox expose web --type=LoadBalancer

			# Preview an Ingress for box web, without changing the box
			kubectl modelbox expose web --host=shop.example.com --dry-run=server -o yaml`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmd.Flags().Int32Var(&o.Port, "port", o.Port, "The port that the Service should serve on.")
	cmd.Flags().StringVar(&o.Protocol, "protocol", o.Protocol, "The network protocol of the port. Default is 'TCP'.")
	cmd.Flags().StringVar(&o.TargetPort, "target-port", o.TargetPort, "Name or number for the port on the container that the Service should direct traffic to. Default is the same as --port.")
	cmd.Flags().StringVar(&o.Type, "type", o.Type, "Type for the Service: ClusterIP, NodePort, LoadBalancer, or Headless.")
	cmd.Flags().StringSliceVar(&o.Hosts, "host", o.Hosts, "Ingress host (repeatable). Replaces the hosts of the box.")
	cmd.Flags().StringVar(&o.Path, "path", o.Path, "Ingress path. Default is '/'.")
	return cmd
}

// Validate returns an error for what says nothing.
func (o *Options) Validate() error {
	isIngress := len(o.Hosts) > 0 || o.Path != ""
	switch {
	case o.Port == 0 && o.Type == "" && !isIngress:
		return errors.New("one of --port, --type, --host and --path must be specified")
	case o.Port == 0 && (o.Protocol != "" || o.TargetPort != ""):
		return errors.New("--protocol and --target-port require --port")
	}
	return o.Selection.Validate()
}

// Run changes the boxes. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	return o.Change(ctx, o.expose)
}

// expose changes one box.
func (o *Options) expose(box *modelv1.ModelBox) error {
	if o.Port != 0 {
		o.exposePort(box)
	}
	if len(box.Spec.Ports) == 0 {
		return errors.New("has no ports: specify one with --port")
	}
	if o.Type != "" {
		box.Spec.ServiceType = modelv1.ServiceType(o.Type)
	}
	if len(o.Hosts) == 0 && o.Path == "" {
		return nil
	}
	if box.Spec.Ingress == nil {
		box.Spec.Ingress = &modelv1.ModelBoxIngress{}
	}
	if len(o.Hosts) > 0 {
		box.Spec.Ingress.Hosts = o.Hosts
	}
	if o.Path != "" {
		box.Spec.Ingress.Path = o.Path
	}
	return nil
}

// exposePort adds the port, or changes the one of its number and protocol.
func (o *Options) exposePort(box *modelv1.ModelBox) {
	protocol := corev1.Protocol(o.Protocol)
	if protocol == "" {
		protocol = corev1.ProtocolTCP
	}
	i := slices.IndexFunc(box.Spec.Ports, func(port corev1.ServicePort) bool { return port.Port == o.Port && port.Protocol == protocol })
	if i < 0 {
		i = len(box.Spec.Ports)
		box.Spec.Ports = append(box.Spec.Ports, corev1.ServicePort{Port: o.Port, Protocol: protocol})
	}
	if o.TargetPort != "" {
		box.Spec.Ports[i].TargetPort = intstr.Parse(o.TargetPort)
	}
}
