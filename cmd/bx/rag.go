package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// ragCommand is what te rag query starts: te has no index of its own.
func (a *app) ragCommand() *cobra.Command {
	var limit int
	query := &cobra.Command{
		Use: "query QUESTION", Short: "Print the places that a search finds for a question", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.ragQuery(cmd, strings.Join(words, " "), limit)
		},
	}
	query.Flags().IntVar(&limit, "limit", 5, "print at most `N` places")
	cmd := &cobra.Command{Use: "rag", Hidden: true, Short: "Search without a model", Args: noWords, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(query)
	return cmd
}

func (a *app) ragQuery(cmd *cobra.Command, question string, limit int) error {
	return a.withTools(func(_ *job, tools *tool.Set) error {
		args, err := json.Marshal(map[string]any{"query": question, "limit": limit})
		if err != nil {
			return err
		}
		r := tools.Run(cmd.Context(), utp.Call{ID: "rag", Name: "search_code", Args: args})
		if r.Status != utp.StatusOK {
			return errors.New(r.Text())
		}
		_, err = fmt.Fprintln(a.out, strings.TrimSuffix(r.Text(), "\n"))
		return err
	})
}
