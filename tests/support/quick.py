"""Which tests `pytest -m quick` leaves out: those that take most of the time.

Every room keeps tests; tests/test_structure.py holds that, and that what is named here exists.
"""

LEFT_OUT: dict[str, tuple[str, ...]] = {
    "algebra/certify/test_theorems": (
        "test_every_piece_is_proved",
        "test_pieces_do_not_share_their_proofs",
    ),
    "algebra/certify/test_theorems_of_sums": (
        "test_every_closed_form_is_a_theorem",
        "test_regions_are_right_at_random_parameters",
    ),
    "algebra/exact/test_domain": (
        "test_random_polynomials_in_one_symbol",
        "test_random_multi_affine_polynomials",
    ),
    "algebra/exact/test_monomial": ("test_powers",),
    "algebra/growth/test_asymptotics": (
        "test_certificates_add_up",
        "test_pieces_agree_with_numbers_in_place_of_the_exponent",
        "test_comparisons_agree_with_numbers",
        "test_leading_term_class_and_limit_agree_with_numbers",
        "test_nothing_is_dropped_that_may_keep_up",
    ),
    "algebra/products/test_competition": (
        "test_random_programs_say_the_same_both_ways",
        "test_a_hundred_pieces",
    ),
    "algebra/products/test_points": (
        "test_the_kernel_shows_every_theorem_about_random_programs",
        "test_a_point_attains_its_piece_in_all_of_its_region",
    ),
    "algebra/products/test_solve": (
        "test_a_free_direction_is_one",
        "test_symbolic_exponents_against_numbers",
        "test_the_reduced_study_for_every_growth",
        "test_the_optimum_is_the_numerical_one",
    ),
    "algebra/rewrites/test_least": ("test_sums_of_two_terms",),
    "algebra/reading/test_relations": (
        "test_random_relations_hold_where_their_canonical_forms_do",
        "test_the_optimum_of_an_objective_as_it_was_written",
    ),
    "algebra/sums/test_solve": (
        "test_random_programs_are_of_every_kind",
        "test_bounds_enclose_the_optimum",
        "test_the_numerical_search_tells_why_there_is_no_optimum",
        "test_the_numerical_optimum",
        "test_closed_forms_are_the_optimum_where_they_rule",
        "test_nothing_rules_where_there_is_no_optimum",
        "test_bounds_of_a_maximum_are_the_other_way_round",
        "test_the_loose_bound_is_unbounded_where_the_problem_is",
    ),
    "cli/commands/test_asymptotics": (),
    "cli/commands/test_simulate": (),
    "cli/commands/test_solve": (),
    "cli/commands/test_transformer": (),
    "cli/test_cli": (
        "test_every_command_prints_every_format",
        "test_certificates_of_studies_are_checked",
        "test_a_terminal_that_knows_few_characters",
        "test_the_program_as_a_process",
        "test_a_closed_pipe_is_no_error",
        "test_a_full_device_is_one_line",
        "test_an_ending_that_promises_another_format_is_refused",
        "test_full_names_the_bounds_that_make_a_difference",
        "test_help_loads_nothing_heavy",
        "test_other_names_are_text",
        "test_infeasible",
    ),
    "cli/test_hostile": (),
    "cli/test_json": (),
    "compare/test_published": (
        "test_iteration_times_that_the_fit_did_not_see",
        "test_tensor_parallelism_across_nodes_is_predicted_slow",
        "test_runs_of_ones_own",
        "test_the_best_plan_is_found_but_for_one_model",
        "test_runs_of_others",
        "test_mt_nlg_is_not_reached_on_the_first_class_and_said_so",
    ),
    "compare/test_simulated": (),
    "costs/test_contraction": ("test_any_einsum_on_a_grid",),
    "costs/transformer/test_roles": (
        "test_other_names_cost_the_same",
        "test_each_role_once_in_a_stack",
    ),
    "costs/transformer/test_transformer": (),
    "algebra/tangents/test_cover": (
        "test_many_numbers_are_seen_and_never_called_proved",
        "test_one_number_takes_as_few_pieces_as_there_can_be",
        "test_printed_with_what_is_proved",
        "test_too_many_pieces_are_refused_with_the_counts",
        "test_two_numbers_are_proved",
    ),
    "derivation/test_worked": (
        "test_training_limits_are_those_of_the_study",
        "test_every_step_holds",
        "test_two_processes_print_the_same",
        "test_the_file_as_a_script_prints_the_same",
        "test_golden_files_compile",
        "test_a_broken_step_is_caught",
        "test_the_file_as_a_process",
        "test_golden_latex[training-limits]",
        "test_golden_latex[compute-optimal]",
        "test_every_form_names_every_step",
        "test_products_of_steps",
        "test_rewrites_of_steps",
        "test_golden_latex[utilization-cliffs]",
        "test_golden_latex[mixed-parallelism]",
        "test_numbers_beside_the_formulas",
        "test_results",
    ),
    "facts/machines/test_presets": (
        "test_a_file_that_breaks_off_never_crashes",
        "test_files_are_short_plain_text",
    ),
    "facts/models/test_huggingface": (
        "test_strange_values_are_read_or_refused",
        "test_a_file_that_is_no_configuration",
    ),
    "facts/models/test_models": (
        "test_files_are_short_plain_text",
        "test_a_model_is_all_numbers_and_has_a_source",
    ),
    "kernel/test_altered_theorems": (),
    "language/test_parsing": (
        "test_large_texts_within_the_limits",
        "test_hostile_texts_are_refused_at_once",
        "test_a_long_sum",
        "test_any_text_is_read_or_refused_in_one_line",
        "test_arithmetic_is_what_python_makes_of_it",
        "test_formulas_have_the_value_that_python_gives_them",
        "test_every_symbol_is_a_name",
    ),
    "language/test_units": ("test_unit_text_round_trip", "test_units_of_the_notation"),
    "measure/iterations/test_projection": (
        "test_the_example_of_the_documentation",
        "test_errors_of_shares_are_the_spread_over_repeated_baselines",
    ),
    "measure/operators/test_fitting": ("test_no_general_optimiser_finds_a_better_fit",),
    "measure/operators/test_profile": (),
    "measure/operators/test_torch": (),
    "measure/runs/test_own_class": (
        "test_gradients_that_hide_are_found",
        "test_few_runs_are_all_fitted_and_it_is_said",
        "test_runs_become_a_class_that_is_read_again",
    ),
    "pages/formats/test_formats": (
        "test_latex_of_every_command_compiles",
        "test_latex_of_a_command_compiles_alone",
        "test_markdown",
        "test_text_fits_eighty_columns",
        "test_text_fits_other_terminals",
        "test_titles_of_a_users_file_compile",
        "test_hostile_texts_compile",
        "test_numbers_to_the_digits_stated",
        "test_monomials_with_symbols_in_exponents_read_back",
        "test_sympy_texts_read_back",
    ),
    "pages/formats/test_html": (
        "test_derivations_are_complete_pages",
        "test_formulas_are_well_formed_and_name_their_symbols",
    ),
    "pages/of/test_browser": (),
    "pages/of/test_explore": (),
    "pages/of/test_functions": (
        "test_names_are_identifiers",
        "test_all_that_is_written_runs",
        "test_most_functions_are_tried_outside_their_region",
        "test_scalars_lists_arrays_and_integers_are_alike",
        "test_limits_are_those_of_the_library",
        "test_problems_give_the_numerical_optimum",
        "test_every_function_says_where_it_holds",
        "test_commands_print_code",
        "test_every_argument_is_explained",
    ),
    "pages/of/test_report": (),
    "pages/test_notebook": (),
    "problems/test_answer": (
        "test_every_example_has_an_answer_and_certificates",
        "test_compute_optimal_allocation_with_symbolic_exponents",
    ),
    "problems/test_binding_sums": (
        "test_a_piece_rules_at_every_feasible_point",
        "test_every_formula_is_a_theorem",
        "test_a_cluster_without_any_number",
    ),
    "problems/test_certificate_file": (
        "test_whatever_is_changed_is_noticed",
        "test_what_asks_for_too_much_is_refused_soon",
    ),
    "problems/test_certificate_pages": ("test_structural_damage_is_refused_by_both",),
    "problems/test_file": ("test_random_monomial_problems_agree_with_the_engine",),
    "problems/test_known_answers": (),
    "problems/test_sweep": ("test_the_named_piece_is_the_optimum_there", "test_two_parameters"),
    "simulator/sparse_mlp/test_device": (
        "test_tiles_cover_the_matrix_and_fit",
        "test_compiled_is_what_is_printed",
    ),
    "simulator/sparse_mlp/test_distributed": (),
    "simulator/sparse_mlp/test_search": (
        "test_the_wide_search_never_loses",
        "test_the_wide_search_finds_the_best_of_all",
        "test_published_curves",
        "test_the_end_of_linear_scaling",
    ),
    "simulator/sparse_mlp/test_step": (
        "test_one_expression_is_the_parts_put_together",
        "test_published_plans_in_every_column",
    ),
    "simulator/transformer/test_plans": ("test_the_search_finds_what_trying_everything_finds",),
    "studies/comp_vs_comm/test_comp_vs_comm": (
        "test_the_exposed_part_is_what_a_simulation_shows",
    ),
    "studies/training/test_cliffs": ("test_utilization_is_what_a_search_finds",),
    "studies/training/test_full_limits": (),
    "studies/training/test_limits": ("test_certificates",),
    "test_doctests": (),
    "test_documentation": ("test_generated_pages_are_current",),
    "test_front_door": (
        "test_no_module_hides_a_question",
        "test_what_only_some_have",
        "test_what_comes_back",
        "test_the_same_answers_as_the_command_line",
    ),
    "test_readme": (),
    "test_structure": (
        "test_a_library_has_one_place",
        "test_symbols_are_made_in_one_file",
        "test_no_text_is_executed",
        "test_no_class_is_named_twice",
        "test_modules_form_no_circle",
        "test_public_things_have_docstrings",
    ),
}
"""The slow tests of a module, or none where it is slow as a whole."""


def is_slow(module: str) -> bool:
    """Whether a module is left out as a whole: it is named from the folder `tests` on."""
    return LEFT_OUT.get(module) == ()


def is_quick(module: str, test: str) -> bool:
    """Whether a test is quick, named with its parameters."""
    names = LEFT_OUT.get(module)
    return names is None or (names != () and not {test, test.partition("[")[0]} & set(names))
