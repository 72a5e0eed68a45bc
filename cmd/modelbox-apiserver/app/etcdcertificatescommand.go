// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/etcdcertificates"
)

// newEtcdCertificatesCommand returns the command for the certificates of an etcd outside.
func newEtcdCertificatesCommand() *cobra.Command {
	certificates := etcdcertificates.Certificates{
		Namespace:    "modelbox-system",
		CASecret:     "modelbox-etcd-ca",
		MemberSecret: "modelbox-etcd",
		ClientSecret: "modelbox-apiserver-etcd",
		Lifetime:     365 * 24 * time.Hour,
	}
	var kubeconfig string
	cmd := &cobra.Command{
		Use:   "etcd-certificates",
		Short: "Issue and renew the certificates of an etcd and its clients",
		Long: `Issue the certificates for mutual TLS between the members of an etcd and their clients, into existing Secrets. If you run the command
again, it renews certificates with a third of their lifetime or less left. You need not restart etcd or its clients.`,
		Example: `  modelbox-apiserver etcd-certificates --member-hosts=etcd-0.etcd.modelbox-system.svc`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(certificates.MemberHosts) == 0 {
				return errors.New("--member-hosts must have at least one host")
			}
			if certificates.Lifetime <= 0 {
				return fmt.Errorf("--lifetime is %s and must be positive", certificates.Lifetime)
			}
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return fmt.Errorf("reading the kubeconfig: %w", err)
			}
			if certificates.Client, err = kubernetes.NewForConfig(config); err != nil {
				return fmt.Errorf("creating the client: %w", err)
			}
			return certificates.Renew(cmd.Context(), time.Now())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "Path to a kubeconfig of the cluster. Only required outside of a pod.")
	flags.StringVar(&certificates.Namespace, "namespace", certificates.Namespace, "Namespace of the Secrets.")
	flags.StringVar(&certificates.CASecret, "ca-secret", certificates.CASecret, "Secret with the CA and its private key.")
	flags.StringVar(&certificates.MemberSecret, "member-secret", certificates.MemberSecret, "Secret with the certificate of the members.")
	flags.StringVar(&certificates.ClientSecret, "client-secret", certificates.ClientSecret, "Secret with the certificate of the clients.")
	flags.StringSliceVar(&certificates.MemberHosts, "member-hosts", nil, "DNS names and IP addresses of the members.")
	flags.DurationVar(&certificates.Lifetime, "lifetime", certificates.Lifetime, "Lifetime of the certificates. The lifetime of the CA is ten years.")
	usePlainHelp(cmd)
	return cmd
}
